"""What the axes of a function's arguments and results are called, from the annotations of the solution."""

import ast
from functools import cache

Names = tuple[str, ...]


@cache
def axes_of(solution: str, function: str) -> tuple[dict[str, Names], tuple[Names, ...]]:
    """({argument: its axes}, the axes of each result); an array without annotation is left out."""
    found = next(
        (node for node in ast.parse(solution).body if isinstance(node, ast.FunctionDef) and node.name == function), None
    )
    if found is None:
        return {}, ()
    arguments = {
        one.arg: shapes[0] for one in found.args.args if one.annotation and (shapes := _shapes(one.annotation))
    }
    return arguments, tuple(_shapes(found.returns)) if found.returns else ()


def axis_name(names: Names, rank: int, axis: int) -> str:
    """The name of an axis of an array with `rank` axes; counted from the right, so that `*batch` may be several."""
    place = axis - rank
    if names and -len(names) <= place and not names[place].startswith("*"):
        return f"`{names[place]}`"
    return f"axis {axis}"


def _shapes(annotation: ast.expr) -> list[Names]:
    """The axes of each annotation such as Float[Tensor, "batch source"], from left to right."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        last = annotation.slice.elts[-1]
        if isinstance(last, ast.Constant) and isinstance(last.value, str):
            return [tuple(last.value.split())]
        return [shape for one in annotation.slice.elts for shape in _shapes(one)]
    if isinstance(annotation, ast.Subscript):
        return _shapes(annotation.slice)
    return []
