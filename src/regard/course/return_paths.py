"""Why a function returned None: a path without `return`, a `return None` that is reached, or a value that is None."""

import ast
from collections.abc import Iterator
from pathlib import Path

FORGOTTEN = "did you forget `return`?"
LOOPS = (ast.For, ast.While, ast.AsyncFor)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def why_none(path: Path | None, function: str) -> str:
    """The end of the sentence "Your answer is None: …", from the function's text."""
    found = _function(path, function)
    if found is None:
        return FORGOTTEN
    returns = list(_returns(found, False))
    empty = [(node, inside) for node, inside in returns if _is_none(node)]
    for node, inside in empty:
        if inside:
            return (
                f"the `return None` in line {node.lineno} is reached inside the loop, which ends there. To go on with "
                "the other turns, put it behind the loop."
            )
    if empty:
        return f"the `return None` in line {empty[0][0].lineno} is reached."
    if not returns or _falls_through(found.body):
        return FORGOTTEN
    line = returns[-1][0].lineno
    return f"what stands after `return` in line {line} is None (list.sort() and list.append() give None, for instance)."


def _function(path: Path | None, name: str) -> ast.FunctionDef | None:
    if path is None:
        return None
    try:
        tree = ast.parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, SyntaxError, ValueError):
        return None
    return next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name), None)


def _returns(node: ast.AST, inside: bool) -> Iterator[tuple[ast.Return, bool]]:
    """The function's own returns, each with whether it stands in a loop."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child, inside
        elif not isinstance(child, SCOPES):
            yield from _returns(child, inside or isinstance(child, LOOPS))


def _is_none(node: ast.Return) -> bool:
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def _falls_through(body: list[ast.stmt]) -> bool:
    """Whether the end of these statements can be reached."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return False
    if isinstance(last, ast.If):
        return _falls_through(last.body) or _falls_through(last.orelse)
    if isinstance(last, ast.With):
        return _falls_through(last.body)
    if isinstance(last, ast.Try):
        ends = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return _falls_through(last.finalbody) and any(map(_falls_through, ends))
    forever = isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and bool(last.test.value)
    return not (forever and not any(isinstance(node, ast.Break) for node in ast.walk(last)))
