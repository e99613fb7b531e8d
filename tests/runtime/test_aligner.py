"""Aligning whole batches: the same attention as forcing pair by pair, for every architecture and kind of piece."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

import regard
from regard.alignment import LinkRule
from regard.runtime.aligner import Aligner, linked_words
from regard.text.encoding import PieceWords
from regard.text.input_error import InputError
from regard.text.special import EOS
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import Kind, TokenizerConfig

from .bundles import ENGLISH, FRENCH, KINDS

Make = Callable[..., regard.Translator]
SOURCES = ["the cat", ENGLISH[2], "jane visits the mat", ENGLISH[0]]
TARGETS = [FRENCH[1], "le tapis", FRENCH[2], "jane visite l'afrique"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer"])
def test_a_batch_has_the_attention_of_forcing_one_by_one(random_model: Make, name: str, kind: Kind) -> None:
    translator = random_model(name, kind)
    aligner = Aligner(translator.bundle)
    found = dict(aligner.look(SOURCES, TARGETS))
    assert sorted(found) == [0, 1, 2, 3]
    for number, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = translator.translate(source, target=target)
        assert alone.attention is not None
        np.testing.assert_allclose(found[number].attention, alone.attention, atol=1e-5)
        assert found[number].attention.shape[:2] == aligner.shape
        assert found[number].target_words == alone.target_words
        if not found[number].cut:
            assert found[number].source_words == alone.source_words
            np.testing.assert_allclose(
                found[number].between_words().words.mean((0, 1)), alone.word_attention, atol=1e-5
            )


RULES = [
    LinkRule(),
    LinkRule(null=True, shift=1),
    LinkRule(threshold=0.3, shift=-1),
    LinkRule(method="threshold", threshold=0.2, shift=1),
    LinkRule(method="threshold", threshold=0.1),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "spaces"), [("bahdanau", True), ("transformer", False)])
def test_links_of_a_batch_are_those_of_each_pair(random_model: Make, name: str, kind: Kind, spaces: bool) -> None:
    aligner = Aligner(random_model(name, kind).bundle, spaces=spaces)
    rules = [*RULES, *([LinkRule(((1, 0), (0, 1)), shift=1)] if name == "transformer" else [])]
    looks = dict(aligner.look(SOURCES, TARGETS))
    found = list(aligner.links(SOURCES, TARGETS, rules))
    assert sorted(number for number, _, _ in found) == [0, 1, 2, 3]
    for number, links, cut in found:
        assert cut == looks[number].cut
        for rule, each in zip(rules, links, strict=True):
            wanted = rule.links(looks[number].between_words(rule.shift))
            assert {(int(source), int(target)) for source, target in each} == wanted


def test_many_pairs_come_in_several_groups_and_each_once(random_model: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.runtime.aligner.ROWS", 3)
    monkeypatch.setattr("regard.runtime.aligner.CELLS", {"cpu": 150})
    aligner = Aligner(random_model().bundle)
    numbers = [number for number, _ in aligner.look(SOURCES * 20, TARGETS * 20)]
    assert sorted(numbers) == list(range(80))


def test_blank_sides_are_left_out_and_long_sources_are_cut(random_model: Make) -> None:
    aligner = Aligner(random_model().bundle)
    found = dict(aligner.look(["the cat", " ", "the cat", "the cat " * 10], ["le chat", "le chat", "", "le chat"]))
    assert sorted(found) == [0, 3]
    assert (found[0].cut, found[3].cut) == (False, True)
    assert found[3].counts == (20, 2)  # the words that were not read are words still


def test_words_beyond_the_limit_take_no_memory() -> None:
    """A line of a million words is cut to what the model reads: only those words are looked at."""
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])[None, None, None]
    sides = PieceWords([5, 6, EOS], [0, 1, None], count=1 << 50), PieceWords([7, EOS], [0, None], count=1)
    (found,) = linked_words(weights, [sides], LinkRule())
    assert found.tolist() == [[0, 0]]


def test_a_pair_of_very_long_words_is_skipped_and_the_others_are_not(random_model: Make) -> None:
    aligner = Aligner(random_model().bundle)
    sources, targets = ["the cat", "the cat " * 300_000, "the cat " * 30], ["le chat", "le chat", "le chat"]
    assert sorted(number for number, _ in aligner.look(sources, targets)) == [0, 2]
    assert sorted(number for number, _, _ in aligner.links(sources, targets, [LinkRule()])) == [0, 2]
    sizes = {number: matrix.shape for number, matrix, _ in aligner.matrices(sources, targets, LinkRule())}
    assert sizes == {0: (2, 2), 2: (2, 60)}


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_white_space_separates(kind: Kind) -> None:
    text = "don't go, l'été!  it's 3.5"
    size = 40 if kind in ("bpe", "unigram") else None
    tokenizer = Tokenizer.train([text], TokenizerConfig(kind=kind, vocabulary=size))
    words, word_of = text.split(), tokenizer.encode_words(text, spaces=True).words
    for (start, end), word in zip(tokenizer.encode(text).spans, word_of, strict=True):
        if word is not None:
            first = sum(len(one) + 1 for one in words[:word])
            assert first <= start <= end <= first + len(words[word])
    assert {word for word in word_of if word is not None} == set(range(5))


def test_a_model_without_attention_cannot_align(random_model: Make) -> None:
    with pytest.raises(InputError, match="has no attention: one fixed vector, no alignment exists"):
        Aligner(random_model("vanilla").bundle)


def test_each_source_needs_a_target(random_model: Make) -> None:
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        list(Aligner(random_model().bundle).look(["a", "b"], ["c"]))


@pytest.mark.parametrize("kind", KINDS)
def test_links_at_white_space_count_the_words_of_the_file(random_model: Make, kind: Kind) -> None:
    aligner = Aligner(random_model("bahdanau", kind).bundle, spaces=True)
    plain = dict(aligner.look(["the black cat"], ["le chat noir"]))[0]
    dropped = dict(aligner.look(["the \u00ad black cat"], ["le chat \u200e noir"]))[0]
    assert dropped.source_words == ("the", "\u00ad", "black", "cat")
    assert dropped.target_words == ("le", "chat", "\u200e", "noir")
    assert aligner.count_words("the \u00ad black cat", "le chat \u200e noir") == dropped.counts == (4, 4)
    between, wanted = dropped.between_words().words, plain.between_words().words
    np.testing.assert_allclose(between[:, :, [0, 1, 3]][:, :, :, [0, 2, 3]], wanted, atol=1e-6)
    joined = dict(aligner.look(["the black\u200bcat"], ["le chat noir"]))[0]
    assert joined.source_words == ("the", "black cat")
    np.testing.assert_allclose(joined.between_words().words[..., 1], wanted[..., 1] + wanted[..., 2], atol=1e-6)
