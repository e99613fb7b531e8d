"""Small changes of a program that turn typical slips into right code, each with a sentence about it."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from regard.course.statement_edits import of_statement, short, shown

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add, ast.MatMult),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Pow: (ast.Mult,),
}
REDUCTIONS = ("sum", "max", "mean", "min", "amax", "argmax", "softmax", "log_softmax", "cat", "stack", "norm")


SWAPS = {
    "max": ("min", "sum"),
    "min": ("max",),
    "amin": ("amax",),
    "minimum": ("maximum",),
    "maximum": ("minimum",),
    "mean": ("sum",),
    "sum": ("mean", "max"),
    "argmin": ("argmax",),
    "argmax": ("argmin",),
    "triu": ("tril",),
    "tril": ("triu",),
    "view": ("reshape",),
    "any": ("all",),
    "all": ("any",),
    "cat": ("stack",),
    "stack": ("cat",),
    "softmax": ("log_softmax", "sigmoid"),
    "log_softmax": ("softmax",),
    "sigmoid": ("tanh", "softmax"),
    "relu": ("tanh",),
    "sin": ("tanh",),
    "tanh": ("sigmoid",),
    "ones": ("zeros",),
    "extend": ("append",),
    "append": ("extend",),
    "floor": ("ceil",),
    "log2": ("log",),
    "log10": ("log",),
    "exp2": ("exp",),
    "log1p": ("log",),
    "expm1": ("exp",),
}
"""Functions that are taken for one another."""


@dataclass(frozen=True)
class Edit:
    """A changed program, the line of the change and what it is."""

    tree: ast.Module
    line: int
    what: str


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Every program that one change makes of this one; `tree` itself stays as it is."""
    yield from _everywhere(tree)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)]
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    likely = ((*_of_expression(node), *of_statement(node)) for node in places)
    unlikely = (tuple(_other_names(node, names)) for node in places)  # many: last, since time is limited
    for index, changes in (*enumerate(likely), *enumerate(unlikely)):
        for new, what in changes:
            changed = copy.deepcopy(tree)
            target = [one for one in ast.walk(changed) if isinstance(one, ast.expr | ast.stmt)][index]
            yield Edit(_replaced(changed, target, new), getattr(places[index], "lineno", 0), what)


def _everywhere(tree: ast.Module) -> Iterator[Edit]:
    """One axis for all calls that name the same wrong one."""
    found: dict[tuple[str, str], int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("axis", "dim"):
            found.setdefault((node.arg, ast.unparse(node.value)), node.value.lineno)
    for (name, value), line in found.items():
        for other in ("-1", "0", "1", "2"):
            changed = copy.deepcopy(tree)
            for node in ast.walk(changed):
                if isinstance(node, ast.keyword) and (node.arg, ast.unparse(node.value)) == (name, value):
                    node.value = ast.parse(other, mode="eval").body
            if other != value:
                yield Edit(ast.fix_missing_locations(changed), line, f"`{name}={other}` instead of `{name}={value}`, "
                           "wherever it stands (the wrong axis)")  # fmt: skip


def _replaced(tree: ast.Module, target: ast.AST, new: ast.AST) -> ast.Module:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is target else self.generic_visit(node)

    Replace().visit(tree)
    return ast.fix_missing_locations(tree)


VERBS = {(ast.Sub, ast.Add): "add, do not subtract", (ast.Add, ast.Sub): "subtract, do not add"}


def _of_expression(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.Compare):
        for kind in COMPARISONS.get(type(node.ops[0]), ()):
            new: ast.expr = ast.Compare(node.left, [kind(), *node.ops[1:]], node.comparators)
            yield new, f"{shown(node, new)} (the comparison: its edge or its direction)"
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            new = ast.BinOp(node.left, operator(), node.right)
            yield new, f"{shown(node, new)} ({VERBS.get((type(node.op), operator), 'another operation')})"
        swapped = ast.BinOp(node.right, node.op, node.left)
        yield swapped, f"{shown(node, swapped)} (the order is swapped)"
        sign = ast.unparse(ast.BinOp(ast.Name("x"), node.op, ast.Name("y")))[2:-2]
        yield node.left, f"without the part `{short(ast.BinOp(ast.Name('x'), node.op, node.right))[2:]}`"
        yield node.right, f"without the part `{short(ast.BinOp(node.left, node.op, ast.Name('x')))[:-2]}`"
        if isinstance(node.left, ast.Call) and len(node.left.args) == 1:
            inside = ast.Call(node.left.func, [ast.BinOp(node.left.args[0], node.op, node.right)], node.left.keywords)
            yield inside, f"{shown(node, inside)} (`{sign}` belongs inside the parentheses)"
    if isinstance(node, ast.BoolOp):
        other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield other, f"{shown(node, other)} (and / or)"
    if isinstance(node, ast.UnaryOp):
        yield node.operand, f"without `{ast.unparse(node)[0]}` in `{short(node)}` (the sign, or an inverted mask)"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for value in dict.fromkeys((node.value + 1, node.value - 1, -1, 0, 1, 2, -2)):
            if value != node.value:
                new = ast.Constant(value)
                yield new, f"`{value}` instead of `{node.value}` (off by one, or the wrong axis)"
    if isinstance(node, ast.Constant) and type(node.value) is float:
        for number, why in ((-node.value, "the sign"), (0.0, "another number"), (1.0, "another number")):
            yield ast.Constant(number), f"`{number:g}` instead of `{node.value:g}` ({why})"
        yield ast.Call(ast.Name("float"), [ast.Constant("inf")], []), "infinity instead of a finite number"
    if isinstance(node, ast.Call):
        yield from _of_call(node)
    if isinstance(node, ast.Tuple | ast.List) and 2 <= len(node.elts) <= 3 and isinstance(node.ctx, ast.Load):
        turned = type(node)([node.elts[1], node.elts[0], *node.elts[2:]], ast.Load())
        yield turned, f"{shown(node, turned)} (the order is swapped)"
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value, f"`{short(node.value)}` without .T (transposed)"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        transposed = ast.Attribute(node, "T", ast.Load())
        yield transposed, f"`{node.id}.T` instead of `{node.id}` (transposed)"
        column = ast.parse(f"{node.id}[:, None]", mode="eval").body
        yield column, f"`{node.id}[:, None]` instead of `{node.id}` (a new axis)"
        inverted = ast.UnaryOp(ast.Invert(), node)
        yield inverted, f"`~{node.id}` instead of `{node.id}` (the mask is inverted)"
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value, f"`{short(node.value)}` without the index `[{short(node.slice)}]`"
        yield from _other_index(node)
    if isinstance(node, ast.BinOp | ast.Call):
        column = ast.Subscript(node, ast.parse("x[:, None]", mode="eval").body.slice, ast.Load())  # type: ignore[attr-defined]
        yield column, f"`({short(node)})[:, None]` instead of `{short(node)}` (a new axis)"
        for function in ("torch.tanh", "np.tanh", "torch.sigmoid", "-", "~"):
            new = ast.parse(f"{function}({ast.unparse(node)})", mode="eval").body
            yield new, f"a `{function}` around `{short(node)}` (it is missing)"


def _other_index(node: ast.Subscript) -> Iterator[tuple[ast.AST, str]]:
    """The index one further or one before, where it is a name: x[t] or x[:, t]."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place, part in enumerate(parts):
        if isinstance(part, ast.Name):
            for text in (f"{part.id} - 1", f"{part.id} + 1"):
                changed = [*parts[:place], ast.parse(text, mode="eval").body, *parts[place + 1 :]]
                index = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else changed[0]
                new = ast.Subscript(node.value, index, ast.Load())
                yield new, f"{shown(node, new)} (off by one)"
        if isinstance(part, ast.Slice) and (part.lower is None) != (part.upper is None):
            turned = ast.Slice(part.upper, part.lower, part.step)
            changed = [*parts[:place], turned, *parts[place + 1 :]]
            index = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else turned
            new = ast.Subscript(node.value, index, ast.Load())
            yield new, f"{shown(node, new)} (the other end)"


def _other_names(node: ast.AST, names: list[str]) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names:
            if name != node.id and not name.startswith("__"):
                yield ast.Name(name, ast.Load()), f"`{name}` instead of `{node.id}`"


def _of_call(node: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if len(node.args) >= 1 and not (isinstance(node.func, ast.Attribute) and node.args[0] is node.func.value):
        yield node.args[0], f"without `{name}` around `{short(node.args[0])}` (`{name}` is too much)"
    if isinstance(node.func, ast.Attribute):
        yield node.func.value, f"`{short(node.func.value)}` without `.{name}(…)` (`{name}` is too much)"
    if len(node.args) == 1 and isinstance(product := node.args[0], ast.BinOp):
        inside = ast.BinOp(ast.Call(node.func, [product.left], node.keywords), product.op, product.right)
        yield inside, f"{shown(node, inside)} (`{name}` goes round too much)"
    if len(node.args) == 2:
        new = ast.Call(node.func, [node.args[1], node.args[0]], node.keywords)
        yield new, f"{shown(node, new)} (the order is swapped)"
    for index, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:index], *node.keywords[index + 1 :]]
        yield ast.Call(node.func, node.args, rest), f"`{name}` without `{ast.unparse(keyword)}`"
    given = {keyword.arg for keyword in node.keywords}
    if name in REDUCTIONS:
        for text in (
            "keepdims=True",
            "keepdim=True",
            "axis=-1",
            "axis=0",
            "axis=1",
            "dim=-1",
            "dim=1",
            "axis=-1, keepdims=True",
        ):
            extra = ast.parse(f"f({text})", mode="eval").body
            assert isinstance(extra, ast.Call)
            if not given & {keyword.arg for keyword in extra.keywords}:
                more = ast.Call(node.func, node.args, [*node.keywords, *extra.keywords])
                yield more, f"`{name}` with `{text}`"
    for better in SWAPS.get(name, ()):
        function = ast.Name(better) if isinstance(node.func, ast.Name) else copy.copy(node.func)
        if isinstance(function, ast.Attribute):
            function.attr = better
        yield ast.Call(function, node.args, node.keywords), f"`{better}` instead of `{name}`"
    if name in ("range", "enumerate") and len(node.args) == 1:
        ends = ("range({} + 1)", "range({} - 1)", "range(1, {})")
        for text in ends if name == "range" else ("enumerate({}, 1)",):
            other = ast.parse(text.format(ast.unparse(node.args[0])), mode="eval").body
            yield other, f"{shown(node, other)} (off by one)"
    if name == "sorted":
        reverse = ast.keyword("reverse", ast.Constant(True))
        yield ast.Call(node.func, node.args, [*node.keywords, reverse]), "`sorted` with `reverse=True` (the order)"
