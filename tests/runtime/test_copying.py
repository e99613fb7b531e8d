"""Unknown words: reported, and copied by attention."""

from collections.abc import Callable

import numpy as np

import regard
from regard.runtime.build_translation import copy_unknown
from regard.text.encoding import Encoding
from regard.text.special import EOS, UNK

from .bundles import tokenizers

Make = Callable[..., regard.Translator]


def encoding(text: str) -> Encoding:
    return tokenizers()[0].encode(text, eos=True)


def look(*rows: int, weight: float = 0.9, width: int) -> np.ndarray:
    """Each row has `weight` at one position, the rest evenly distributed."""
    attention = np.full((len(rows), width), (1 - weight) / (width - 1))
    attention[np.arange(len(rows)), rows] = weight
    return attention


SOURCE = encoding("the zebra sat")  # zebra is unknown
SURE = [0.9, 0.9, 0.9, 0.9]


def test_an_unknown_token_becomes_the_unknown_word() -> None:
    attention = look(0, 2, 2, 3, width=4)
    assert copy_unknown([7, UNK, 8, EOS], SURE, attention, SOURCE, words=True) == [None, "zebra", None, None]


def test_an_unknown_token_without_unknown_words_becomes_the_word_it_looked_at() -> None:
    source = encoding("the cat sat")
    assert copy_unknown([UNK, EOS], SURE[:2], look(3, 3, width=4), source, words=True) == ["the", None]
    assert copy_unknown([UNK, EOS], SURE[:2], look(1, 3, width=4), source, words=True) == ["cat", None]


def test_the_least_probable_known_word_is_replaced() -> None:
    attention = look(1, 1, 2, 3, width=4)
    assert copy_unknown([7, 9, 8, EOS], [0.5, 0.2, 0.9, 0.9], attention, SOURCE, words=True)[:2] == [None, "zebra"]
    assert copy_unknown([7, 9, 8, EOS], [0.1, 0.2, 0.9, 0.9], attention, SOURCE, words=True)[:2] == ["zebra", None]


def test_low_attention_eos_and_given_words_are_not_replaced() -> None:
    nothing = [None] * 4
    glance = look(0, 1, 2, 3, weight=0.4, width=4)
    assert copy_unknown([7, 9, 8, EOS], SURE, glance, SOURCE, words=True) == nothing
    assert copy_unknown([7, 9, 8, EOS], SURE, look(0, 0, 2, 1, width=4), SOURCE, words=True) == nothing
    given = look(0, 1, 2, 3, width=4)
    assert copy_unknown([7, 9, 8, EOS], SURE, given, SOURCE, words=True, first=2) == nothing
    assert copy_unknown([7, 9, 8, EOS], SURE, given, SOURCE, words=False) == nothing


def test_each_unknown_word_is_copied_once_even_if_it_comes_twice() -> None:
    source = encoding("zebra sat zebra")
    attention = look(0, 1, 2, 3, width=4)
    copied = copy_unknown([7, 9, 8, EOS], [0.3, 0.9, 0.3, 0.9], attention, source, words=True)
    assert copied == ["zebra", None, "zebra", None]


def test_without_attention_unknown_tokens_take_unknown_words_in_their_order() -> None:
    source = encoding("zebra sat yak")
    assert copy_unknown([UNK, 9, UNK, UNK, EOS], SURE, None, source, words=True) == ["zebra", None, "yak", None, None]


def test_subword_pieces_copy_the_piece_not_the_word() -> None:
    source = tokenizers("character")[0].encode("caß", eos=True)
    attention = look(0, 1, 2, 3, width=4)
    assert copy_unknown([7, 8, UNK, EOS], SURE, attention, source, words=False) == [None, None, "ß", None]


def test_an_unknown_number_is_copied_through_a_trained_model(reverser: regard.Translator) -> None:
    translation = reverser.translate("5 999 4")
    assert translation.text == "4 999 5"
    (warning,) = translation.warnings
    assert warning.startswith("unknown to this model: '999' (it reads the numbers from ")
    assert "999" not in reverser.translate("5 999 4", copy=False).text


def test_many_unknown_words_are_counted_and_long_ones_shortened(random_model: Make) -> None:
    (warning,) = random_model().translate("a b c d e f g " + "x" * 99, longest=2).warnings[:1]
    assert warning == "unknown to this model: 'a', 'b', 'c', 'd', 'e' and 3 more"
    (warning,) = random_model().translate("y" * 99, longest=2).warnings[:1]
    assert warning == f"unknown to this model: '{'y' * 23}…'"
