"""Small changes of statements: left out, swapped, moved into or out of a loop, `=` for `+=`, conditions inverted."""

import ast
import copy
from collections.abc import Iterator


def shown(old: ast.AST, new: ast.AST) -> str:
    return f"`{short(new)}` instead of `{short(old)}`"


def short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 90 else f"{text[:87]}…"


def of_statement(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Statements left out, swapped with the next one, or moved into or out of a loop; `=` for `+=`."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Subscript):
        added = ast.AugAssign(node.targets[0], ast.Add(), node.value)
        yield added, f"`{short(added)}` instead of `{short(node)}` (add up, do not overwrite)"
    if isinstance(node, ast.AugAssign):
        assigned = ast.copy_location(ast.Assign([node.target], node.value), node)
        yield assigned, f"`{short(assigned)}` instead of `{short(node)}` (overwrite, do not add up)"
    if isinstance(node, ast.If | ast.While):
        negated = copy.copy(node)
        negated.test = ast.UnaryOp(ast.Not(), node.test)
        yield negated, f"`not ({short(node.test)})` (the condition is inverted)"
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If | ast.With):
        for index in range(len(node.body)):
            yield from _of_block(node, index)


def _of_block(node: ast.stmt, index: int) -> Iterator[tuple[ast.AST, str]]:
    """Changes of the statement with this index in the body of `node`, and of the one that follows it."""
    body: list[ast.stmt] = node.body  # type: ignore[attr-defined]
    before, statement, after = body[:index], body[index], body[index + 1 :]
    if len(body) > 1 and not isinstance(statement, ast.Return):
        yield _with_body(node, [*before, *after]), f"without the line `{short(statement)}`"
    if isinstance(statement, ast.For | ast.While) and len(statement.body) > 1:
        last = statement.body[-1]
        moved = _with_body(node, [*before, _with_body(statement, statement.body[:-1]), last, *after])
        yield moved, f"`{short(last)}` after the loop, not inside it (the indentation)"
    if not after:
        return
    following, rest = after[0], after[1:]
    turned = _with_body(node, [*before, following, statement, *rest])
    yield turned, f"`{short(following)}` before `{short(statement)}` (the order of two lines)"
    if isinstance(statement, ast.For | ast.While):
        moved = _with_body(node, [*before, _with_body(statement, [*statement.body, following]), *rest])
        yield moved, f"`{short(following)}` inside the loop, not after it (the indentation)"
    if isinstance(following, ast.For) and isinstance(statement, ast.Assign):
        moved = _with_body(node, [*before, _with_body(following, [statement, *following.body]), *rest])
        yield moved, f"`{short(statement)}` inside the loop, afresh for each of them"


def _with_body(node: ast.stmt, body: list[ast.stmt]) -> ast.stmt:
    changed = copy.copy(node)
    changed.body = body  # type: ignore[attr-defined]
    return changed
