"""Small changes of a program that turn typical slips into right code, each with a sentence about it."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Edit:
    """A changed program, the line of the change and what it is."""

    tree: ast.Module
    line: int
    what: str


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Every program that one change makes of this one; `tree` itself stays as it is."""
    places = [node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)]
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    likely = ((*_of_expression(node), *_of_block(node)) for node in places)
    unlikely = (tuple(_other_names(node, names)) for node in places)  # many: last, since time is limited
    for index, changes in (*enumerate(likely), *enumerate(unlikely)):
        for new, what in changes:
            changed = copy.deepcopy(tree)
            target = [one for one in ast.walk(changed) if isinstance(one, ast.expr | ast.stmt)][index]
            yield Edit(_replaced(changed, target, new), getattr(places[index], "lineno", 0), what)


def _replaced(tree: ast.Module, target: ast.AST, new: ast.AST) -> ast.Module:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is target else self.generic_visit(node)

    Replace().visit(tree)
    return ast.fix_missing_locations(tree)


def _shown(old: ast.AST, new: ast.AST) -> str:
    return f"`{_short(new)}` instead of `{_short(old)}`"


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 90 else f"{text[:87]}…"


VERBS = {(ast.Sub, ast.Add): "add, do not subtract", (ast.Add, ast.Sub): "subtract, do not add"}


def _of_expression(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.Compare):
        for kind in COMPARISONS.get(type(node.ops[0]), ()):
            new: ast.expr = ast.Compare(node.left, [kind(), *node.ops[1:]], node.comparators)
            yield new, f"{_shown(node, new)} (the comparison: its edge or its direction)"
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            new = ast.BinOp(node.left, operator(), node.right)
            yield new, f"{_shown(node, new)} ({VERBS.get((type(node.op), operator), 'another operation')})"
        swapped = ast.BinOp(node.right, node.op, node.left)
        yield swapped, f"{_shown(node, swapped)} (the order is swapped)"
        yield node.left, f"without the part `{_short(node.right)}`"
        yield node.right, f"without the part `{_short(node.left)}`"
    if isinstance(node, ast.UnaryOp):
        yield node.operand, f"without `{ast.unparse(node)[0]}` in `{_short(node)}` (the sign, or an inverted mask)"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for value in (node.value + 1, node.value - 1, -1, 0, 1):
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
        yield turned, f"{_shown(node, turned)} (the order is swapped)"
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value, f"`{_short(node.value)}` without .T (transposed)"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        transposed = ast.Attribute(node, "T", ast.Load())
        yield transposed, f"`{node.id}.T` instead of `{node.id}` (transposed)"
        column = ast.parse(f"{node.id}[:, None]", mode="eval").body
        yield column, f"`{node.id}[:, None]` instead of `{node.id}` (a new axis)"
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value, f"`{_short(node.value)}` without the index `[{_short(node.slice)}]`"
    if isinstance(node, ast.BinOp | ast.Call):
        column = ast.Subscript(node, ast.parse("x[:, None]", mode="eval").body.slice, ast.Load())  # type: ignore[attr-defined]
        yield column, f"`({_short(node)})[:, None]` instead of `{_short(node)}` (a new axis)"
        for function in ("torch.tanh", "np.tanh", "torch.sigmoid", "-", "~"):
            new = ast.parse(f"{function}({ast.unparse(node)})", mode="eval").body
            yield new, f"a `{function}` around `{_short(node)}` (it is missing)"


def _other_names(node: ast.AST, names: list[str]) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names:
            if name != node.id and not name.startswith("__"):
                yield ast.Name(name, ast.Load()), f"`{name}` instead of `{node.id}`"


def _of_call(node: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if len(node.args) >= 1 and not (isinstance(node.func, ast.Attribute) and node.args[0] is node.func.value):
        yield node.args[0], f"without `{name}` around `{_short(node.args[0])}` (`{name}` is too much)"
    if isinstance(node.func, ast.Attribute):
        yield node.func.value, f"`{_short(node.func.value)}` without `.{name}(…)` (`{name}` is too much)"
    if len(node.args) == 1 and isinstance(product := node.args[0], ast.BinOp):
        inside = ast.BinOp(ast.Call(node.func, [product.left], node.keywords), product.op, product.right)
        yield inside, f"{_shown(node, inside)} (`{name}` goes round too much)"
    if len(node.args) == 2:
        new = ast.Call(node.func, [node.args[1], node.args[0]], node.keywords)
        yield new, f"{_shown(node, new)} (the order is swapped)"
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
    swaps = {
        "max": "sum",
        "mean": "sum",
        "sum": "mean",
        "argmin": "argmax",
        "min": "max",
        "triu": "tril",
        "view": "reshape",
    }
    if name in swaps and isinstance(node.func, ast.Attribute):
        other = ast.Call(ast.Attribute(node.func.value, swaps[name], ast.Load()), node.args, node.keywords)
        yield other, f"`{swaps[name]}` instead of `{name}`"
    if name == "sorted":
        reverse = ast.keyword("reverse", ast.Constant(True))
        yield ast.Call(node.func, node.args, [*node.keywords, reverse]), "`sorted` with `reverse=True` (the order)"


def _of_block(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Statements left out, swapped with the next one, or moved into the loop that follows them."""
    body = getattr(node, "body", None)
    if not isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If | ast.With) or not isinstance(body, list):
        return
    for index, statement in enumerate(body):
        if len(body) > 1 and not isinstance(statement, ast.Return):
            yield _with_body(node, [*body[:index], *body[index + 1 :]]), f"without the line `{_short(statement)}`"
        if index + 1 < len(body):
            following = body[index + 1]
            turned = [*body[:index], following, statement, *body[index + 2 :]]
            yield (
                _with_body(node, turned),
                f"`{_short(following)}` before `{_short(statement)}` (the order of two lines)",
            )
            if isinstance(following, ast.For) and isinstance(statement, ast.Assign):
                inside = _with_body(following, [statement, *following.body])
                moved = [*body[:index], inside, *body[index + 2 :]]
                yield _with_body(node, moved), f"`{_short(statement)}` inside the loop, afresh for each of them"


def _with_body(node: ast.AST, body: list[ast.stmt]) -> ast.AST:
    changed = copy.copy(node)
    changed.body = body  # type: ignore[attr-defined]
    return changed
