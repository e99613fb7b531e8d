"""Terminal pictures: every row equally wide in every script, no escape codes, the right word highlighted."""

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from regard.plot import AttentionMap, bar
from regard.plot import terminal_heatmap as terminal_heatmap_rich
from regard.plot import walk as walk_rich
from regard.plot.terminal import padded, shade

MapMaker = Callable[..., AttentionMap]


def terminal_heatmap(attention: AttentionMap, **options: Any) -> str:
    return terminal_heatmap_rich(attention, **options).plain


def walk(attention: AttentionMap, **options: Any) -> str:
    return walk_rich(attention, **options).plain


def panels(text: str, labels: list[str]) -> list[list[str]]:
    """The header and rows of each panel of a terminal heat-map."""
    lines = text.split("\n")
    first = [i for i, line in enumerate(lines) if line.startswith(labels[0] + " ")]
    return [lines[i - 1 : i + len(labels)] for i in first]


@given(st.floats(0, 1), st.integers(1, 30))
def test_a_bar_has_exactly_its_width(value: float, width: int) -> None:
    assert cell_len(bar(value, width)) == width
    assert len(bar(value, width, ascii_only=True)) == width


def test_bars_are_exact_to_an_eighth() -> None:
    assert [bar(value, 1) for value in (0, 1 / 8, 0.5, 1)] == [" ", "▏", "▌", "█"]
    assert bar(0.5, 4) == "██  "
    assert bar(float("nan"), 3) == "   "
    assert bar(7, 3) == "███"


def test_shades_step_at_their_edges() -> None:
    assert "".join(shade(weight) for weight in (0.049, 0.05, 0.249, 0.25, 0.5, 0.75, 1.0)) == " ░░▒▓██"


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf"))), st.integers(1, 20))
def test_padded_text_takes_exactly_its_columns(text: str, width: int) -> None:
    assert cell_len(padded(text, width)) == width


def test_rows_and_columns_line_up_and_carry_their_weight(cat: AttentionMap) -> None:
    (panel,) = panels(terminal_heatmap(cat), ["le", "chat", "noir", "était", "assis", "[EOS]"])
    assert len({cell_len(line) for line in panel}) == 1
    black = panel[0].index("black")
    assert panel[3][black:].startswith("██ 93*"), "noir looked at black, and that is a sure link"
    sat = panel[0].index("sat")
    assert panel[4][sat:].startswith("▓▓ 70o")
    assert panel[5][sat:].startswith("██100*")
    assert "[EOS]" in panel[0]


@pytest.mark.parametrize("width", [1, 24, 40, 80, 200])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_line_fits_the_terminal_and_panels_stay_rectangular(
    random_map: MapMaker, lights: AttentionMap, width: int, ascii_only: bool
) -> None:
    long = AttentionMap(
        np.eye(2), ["anticonstitutionnellement" * 2, "猫" * 10], ["क्षत्रिय" * 9, "b"], title="word " * 30
    )
    for attention in (lights, long, random_map(3, 30), random_map(1, 1)):
        for text in (
            terminal_heatmap(attention, width=width, ascii_only=ascii_only),
            walk(attention, width=width, ascii_only=ascii_only),
        ):
            assert max(cell_len(line) for line in text.split("\n")) <= max(width, 24)
    text = terminal_heatmap(lights, width=width, ascii_only=ascii_only)
    found = panels(text, ["लाइट", "बंद", "करो"])
    assert found
    assert all(len({cell_len(line) for line in panel}) == 1 for panel in found)
    assert not ascii_only or not set(text) & set("░▒▓█▏▎▍▌▋▊▉·")


def test_columns_that_do_not_fit_follow_in_further_panels(random_map: MapMaker) -> None:
    text = terminal_heatmap(random_map(3, 30), width=60)
    spans = [line for line in text.split("\n") if line.startswith("source words")]
    assert spans[0].startswith("source words 1 to ")
    assert spans[-1].endswith(" to 30 of 30")


def test_no_escape_code_reaches_a_pipe_not_even_from_a_word(cat: AttentionMap) -> None:
    made = AttentionMap(np.eye(2), ["\x1b[31mred", "[bold]x[/bold]"], ["a\nb", "\x07"], title="\x1b]0;gone\x07")
    for text in (terminal_heatmap(made), walk(made), terminal_heatmap(cat), walk(cat)):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "[bold]x[/bo…" in terminal_heatmap(made), "rich's markup in a word is text"
    piped = Console(file=io.StringIO(), width=80)
    piped.print(terminal_heatmap_rich(cat))
    piped.print(walk_rich(cat))
    assert "\x1b" not in piped.file.getvalue()  # type: ignore[attr-defined]


def test_colour_adds_no_information(cat: AttentionMap) -> None:
    colour = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    colour.print(walk_rich(cat))
    printed = colour.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[" in printed
    assert re.sub("\x1b\\[[0-9;]*m", "", printed).rstrip() == walk(cat)


def test_walk_highlights_the_attended_words(cat: AttentionMap) -> None:
    steps = walk(cat, probabilities=[0.99, 0.98, 0.97, 0.5, 0.9, 1]).split("\n\n")
    assert steps[0] == "the black cat sat"
    sentence, light, strongest = steps[3].split("\n")
    assert sentence.startswith("3 noir ")
    assert light[sentence.index("black") :].rstrip().startswith("█████")
    assert light.strip().startswith("p 0.97")
    assert strongest.split() == ["black", "█████████▎", "93%", "cat", "▌", "5%", "others", "2%"]
    assert "sat ███████ 70%   cat ██▋ 26%   others 4%" in steps[4]


def test_walk_of_a_long_sentence_shows_only_lines_with_attention() -> None:
    words = [f"word{i}" for i in range(60)]
    (step,) = walk(AttentionMap(np.eye(60)[[41]], words, ["x"]), width=60).split("\n\n")
    assert "word41" in step
    assert "word3 " not in step


def test_a_model_without_attention_raises_or_notes_it() -> None:
    none = AttentionMap(None, ["a", "b"], ["x"])
    assert "one fixed vector, no alignment exists" in terminal_heatmap(none)
    assert "one fixed vector, no alignment exists" in walk(none)


def test_missing_attention_is_noted() -> None:
    assert "up to 40% of a row's attention is missing" in terminal_heatmap(
        AttentionMap(np.array([[0.6]]), ["a"], ["x"])
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [({"top": 0}, "top is 0; expected at least 1"), ({"probabilities": [0.5]}, "1 probabilities for 6 target words")],
)
def test_walk_raises_for_wrong_arguments(cat: AttentionMap, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        walk(cat, **options)  # type: ignore[arg-type]
