"""Equations of the pages as MathML: a block ```equation holds plain text that is readable as it is.

    e_tj = v · tanh(W_s s_{t-1} + W_h h_j)     score: how well does h_j fit?

Each line is a row: left side, relation, right side, and a remark after three spaces. `_` and `^` set the letters that
follow, or a group in braces or parentheses, low or high; an arrow before a letter goes above it; √ covers what follows.
"""

import re
from collections.abc import Iterator
from html import escape

TOKEN = re.compile(r"\s+|[A-Za-z]+|[α-ωΑ-Ω]|\d+(?:[.,]\d+)*|.")
FUNCTIONS = {"tanh", "exp", "softmax", "sigmoid", "sin", "cos", "RNN", "GRU", "BiGRU", "Attention", "PE"}
WORDS = {"input", "at", "step", "readout", "head", "Concat", "logits", "dot", "general", "concat"}
ARROWS = ("←", "→")
ACCENTED = {"ŷ": ("y", "^")}
TILDE = "\u0303"
LINE_UP = re.compile(r",   ")
"""Two equations on one line, not an equation and a remark."""
REMARK = re.compile(r"\s{3,}(?!\s*=)")
"""The space before a remark; before a relation, spaces align it with that of other lines."""


def block(text: str) -> str:
    """The MathML of a block of equations."""
    rows = "".join(_row(line) for line in text.strip("\n").splitlines() if line.strip())
    return f'<div class="equations"><math display="block"><mtable displaystyle="true">{rows}</mtable></math></div>'


def _row(line: str) -> str:
    text, *remark = [line.strip()] if LINE_UP.search(line) else REMARK.split(line.strip(), maxsplit=1)
    left, relation, right = text.partition(" = ")
    cells = [expression(left), "<mo>=</mo>" if relation else "", expression(right), *(_remark(one) for one in remark)]
    sides = ("right", "center", "left", "left")
    columns = "".join(f'<mtd style="text-align:{side}">{cell}</mtd>' for side, cell in zip(sides, cells, strict=False))
    return f"<mtr>{columns}</mtr>"


def _remark(text: str) -> str:
    return f'<mspace width="1.5em"/><mtext>{escape(text)}</mtext>'


def expression(text: str) -> str:
    """One side of an equation."""
    items = list(_items(Tokens(TOKEN.findall(text.strip()))))
    return f"<mrow>{''.join(items)}</mrow>" if items else ""


class Tokens:
    """Tokens with a look ahead."""

    def __init__(self, found: list[str]) -> None:
        self.found, self.place = found, 0

    def peek(self) -> str:
        return self.found[self.place] if self.place < len(self.found) else ""

    def take(self) -> str:
        self.place += 1
        return self.found[self.place - 1]


def _items(tokens: Tokens) -> Iterator[str]:
    while token := tokens.peek():
        if token.isspace():
            tokens.take()
            if len(token) > 1:
                yield '<mspace width="1em"/>'
            continue
        yield _scripted(tokens)


def _scripted(tokens: Tokens) -> str:
    """An item with what stands low and high at it."""
    base = _base(tokens)
    low = high = ""
    while tokens.peek() in ("_", "^", "ᵀ", "²"):
        mark = tokens.take()
        if mark == "_":
            low = _script(tokens)
        else:
            high = {"ᵀ": "<mo>⊤</mo>", "²": "<mn>2</mn>"}.get(mark) or _script(tokens)
    if low and "Σ" in base:
        return f"<munder><mo>∑</mo>{low}</munder>"
    if low and high:
        return f"<msubsup>{base}{low}{high}</msubsup>"
    return f"<msub>{base}{low}</msub>" if low else f"<msup>{base}{high}</msup>" if high else base


def _base(tokens: Tokens) -> str:
    token = tokens.take()
    if token in ARROWS and tokens.peek().isalpha():
        return f"<mover>{_letters(tokens.take())}<mo>{token}</mo></mover>"
    if token == "√":
        return f"<msqrt>{_base(tokens)}</msqrt>"
    if token in ACCENTED:
        letter, accent = ACCENTED[token]
        return f"<mover><mi>{letter}</mi><mo>{accent}</mo></mover>"
    if token.isalpha() and token != "Σ":
        found = _letters(token)
        if tokens.peek() == TILDE:
            tokens.take()
            return f"<mover>{found}<mo>~</mo></mover>"
        return found
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    return f'<mo stretchy="false">{escape({"-": "−"}.get(token, token))}</mo>'


def _letters(token: str) -> str:
    if token in FUNCTIONS or token in WORDS:
        return f'<mi mathvariant="normal">{token}</mi>'
    return "".join(f"<mi>{letter}</mi>" for letter in token) if len(token) < 3 else f"<mtext>{token}</mtext>"


def _script(tokens: Tokens) -> str:
    """The group in braces or parentheses, or the next token."""
    opening = tokens.peek()
    if opening not in ("{", "("):
        return f"<mrow>{_letters(tokens.take()) if tokens.peek().isalpha() else _base(tokens)}</mrow>"
    closing, depth, inside = {"{": "}", "(": ")"}[opening], 0, []
    while True:
        token = tokens.take()
        depth += (token == opening) - (token == closing)
        inside.append(token)
        if depth == 0:
            break
    return f"<mrow>{''.join(_items(Tokens(inside[1:-1])))}</mrow>"
