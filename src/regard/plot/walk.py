"""Attention step by step in a terminal: for each target word, the source sentence with the attended words marked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from regard.plot.attention_map import NO_ATTENTION, AttentionMap, Label, Number, shortened
from regard.plot.terminal import LIT, NARROWEST, bar, cells, dealt, padded, shade, word, wrapped_cells

if TYPE_CHECKING:
    import rich.text

_LONGEST_WORD = 16
_BAR = 10
_LINES_SHOWN_WHOLE = 2
"""A source of more lines than this shows, at each step, only the lines with attended words."""


def walk(
    attention: AttentionMap,
    *,
    width: int = 80,
    top: int = 3,
    probabilities: Sequence[Number] | None = None,
    ascii_only: bool = False,
) -> "rich.text.Text":
    """The steps for `rich.print`; `probabilities` are the model's own for each word; `.plain` has no escape codes.

    1 le    the  black  cat
            ███         ░░░
            the █████████▏ 92%   cat ▋ 6%   others 2%
    """
    from rich.text import Text

    if top < 1:
        raise ValueError(f"top is {top}; expected at least 1 source word for each step")
    if probabilities is not None and len(probabilities) != len(attention.target):
        raise ValueError(
            f"{len(probabilities)} probabilities for {len(attention.target)} target words; expected one each"
        )
    width = max(width, NARROWEST)
    picture = Text(no_wrap=True, overflow="ignore")
    if attention.title:
        picture.append(wrapped_cells(attention.title, width) + "\n\n", style="bold")
    digits = len(str(len(attention.target)))
    longest = max((cells(word(label)) for label in attention.target), default=0)
    side = min(max(longest, 6), _LONGEST_WORD, width // 4)
    room = width - digits - side - 3
    for step, label in enumerate(attention.target):
        if attention.weights is None:
            lines = [Text("no attention", style="dim")]
        else:
            lit = _lit_sentence(attention.source, attention.weights[step], room, ascii_only)
            lines = [*lit, *_strongest_words(attention.source, attention.weights[step], room, top, ascii_only)]
        for number, line in enumerate(lines):
            if number == 0:
                picture.append(f"{step + 1:>{digits}} ", style="dim")
                picture.append(padded(word(label), side), style="dim" if label.special else "bold")
            else:
                probability = f"p {probabilities[step]:.2f}" if probabilities is not None and number == 1 else ""
                picture.append(" " * (digits + 1)).append(padded(probability, side), style="dim")
            picture.append("  ").append_text(line).append("\n")
        picture.append("\n")
    if attention.weights is None:
        picture.append(wrapped_cells(NO_ATTENTION, width))
    picture.rstrip()
    return picture


def _lit_sentence(
    source: Sequence[Label], row: Float64[np.ndarray, "source"], room: int, ascii_only: bool
) -> list["rich.text.Text"]:
    """The source in lines of at most `room` columns, each followed by a line with the weight of its words as shades."""
    from rich.text import Text

    texts = [shortened(word(label), min(_LONGEST_WORD, room), cells) for label in source]
    chunks = dealt([cells(text) for text in texts], room, gap=2)
    lines: list[Text] = []
    for chunk in chunks:
        light = "  ".join(shade(row[position], ascii_only=ascii_only) * cells(texts[position]) for position in chunk)
        if len(chunks) > _LINES_SHOWN_WHOLE and not light.strip():
            continue
        words = Text()
        for position in chunk:
            words.append("  " if words else "").append(texts[position], style=_light_style(float(row[position])))
        lines += [words, Text(light.rstrip(), style="yellow")] if light.strip() else [words]
    return lines


def _strongest_words(
    source: Sequence[Label], row: Float64[np.ndarray, "source"], room: int, top: int, ascii_only: bool
) -> list["rich.text.Text"]:
    """The strongest word and up to `top` highlighted ones, each with bar and percentage, and the sum of the others."""
    from rich.text import Text

    strongest = [int(position) for position in np.argsort(-row, kind="stable")[:top]]
    order = [position for rank, position in enumerate(strongest) if rank == 0 or row[position] >= LIT]
    longest_bar = min(_BAR, max(3, room - 11))
    items: list[Text] = []
    for position in order:
        weight = float(row[position])
        block = bar(weight, longest_bar, ascii_only=ascii_only).rstrip()
        name = shortened(word(source[position]), min(_LONGEST_WORD, room - longest_bar - len("  100%")), cells)
        items.append(Text.assemble(name, " ", (block, "cyan"), " " if block else "", f"{weight:.0%}"))
    rest = float(row.sum()) - float(row[order].sum())
    if rest >= 0.005:
        items.append(Text(f"others {rest:.0%}", style="dim"))
    lines = dealt([item.cell_len for item in items], room, gap=3)
    return [Text("   ").join(items[one] for one in line) for line in lines]


def _light_style(weight: float) -> str:
    """Styles that read on dark and on light terminals; the line below carries the same information without colour."""
    if weight >= 0.5:
        return "bold black on yellow"
    return "bold underline" if weight >= 0.25 else "bold" if weight >= LIT else "dim"
