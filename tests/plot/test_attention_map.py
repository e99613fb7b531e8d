"""The input of every picture: labels, shapes, weights, links, and messages for invalid input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignment.links import Links
from regard.plot import EOS, AttentionMap, Label
from regard.plot.attention_map import clusters, shortened, visible


def test_none_and_eos_become_chips_and_a_word_eos_stays_a_word() -> None:
    made = AttentionMap(np.ones((1, 5)) / 5, ["a", None, "</s>", "<unk>", "EOS"], [Label("x")])
    assert made.source == (Label("a"), EOS, EOS, Label("UNK", special=True), Label("EOS"))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((1, 2, 3)), r"3 axes \(1, 2, 3\); expected two, \[target, source\]: choose a layer and a head first"),
        (np.ones((3, 2)) / 3, "3 × 2 .* 2 target and 3 source labels; they look transposed: pass weights.T"),
        (
            np.ones((2, 4)) / 4,
            "2 × 4 .* 2 target and 3 source labels; every row and column needs a label, EOS",
        ),
        (np.zeros((0, 3)), r"weights are empty \(0, 3\); expected at least one"),
        (np.array([[1.0, 0, 0], [0, np.nan, 1]]), r"weights\[1, 1\] \(y → b\) is nan; attention weights lie between"),
        (np.array([[1.0, 0, 0], [0, -3, 1]]), "is -3; .* pass weights after the softmax, not scores"),
        (np.array([[1.0, 0, np.inf], [0, 0, 1]]), "is inf"),
    ],
)
def test_weights_that_cannot_be_drawn_are_refused_with_the_remedy(weights: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AttentionMap(weights, ["a", "b", "c"], ["x", "y"])


def test_a_link_outside_the_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gold link \(1, 0\) points outside 1 source and 1 target words; links"):
        AttentionMap(np.ones((1, 1)), ["a"], ["x"], links=Links.of([(1, 0)]))


def test_a_model_without_attention_has_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="one fixed vector, no alignment exists"):
        AttentionMap(None, ["a"], ["x"]).drawn()


def test_weights_are_copied_and_cannot_be_changed() -> None:
    weights = np.array([[0.4, 0.6]], dtype=np.float32)
    made = AttentionMap(weights, ["a", "b"], ["x"])
    weights[:] = 0
    assert made.drawn()[0, 1] == pytest.approx(0.6)
    with pytest.raises(ValueError, match="read-only"):
        made.drawn()[0, 0] = 1


def test_missing_is_one_minus_the_smallest_row_sum() -> None:
    made = AttentionMap(np.array([[0.5, 0.5], [0.3, 0.1]]), ["a", "b"], ["x", "y"])
    assert made.missing == "up to 60% of a row's attention is missing"
    assert AttentionMap(np.array([[0.5, 0.49]]), ["a", "b"], ["x"]).missing == ""
    assert AttentionMap(None, ["a"], ["x"]).missing == ""


@given(st.text())
def test_visible_text_never_moves_the_cursor(text: str) -> None:
    assert all(
        character.isprintable() or character in "\u200c\u200d\ufffd" or ord(character) > 0x9F
        for character in visible(text)
    )
    assert "\x1b" not in visible(text)
    assert "\n" not in visible(text)


def test_blanks_and_control_characters_are_visible() -> None:
    assert visible("a b\tc\x1b[31m") == "a␣b␣c␛[31m"
    assert visible("\u202eabc") == "abc"
    assert Label("").shown == "∅"


@given(st.text())
def test_clusters_join_to_the_text(text: str) -> None:
    assert "".join(clusters(text)) == text


def test_a_devanagari_word_is_never_cut_inside_a_cluster() -> None:
    assert clusters("बिल्ली") == ["बि", "ल्ली"]
    assert shortened("क्षत्रिय", 2) == "क्ष…"
    assert shortened("क्षत्रिय", 3) == "क्षत्रिय"


@given(st.text(), st.integers(1, 12))
def test_shortened_text_fits(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(clusters(short)) <= limit
    assert short == text or short.endswith("…")
