"""Hidden words: names become unknown on both sides, so that a model learns to copy unknown words."""

import time
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.data.dataset import EncodedPairs, Sequences, encode_pairs
from regard.data.pair import Pair
from regard.data.synthetic import synthetic
from regard.text.special import UNK
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.training.run import train
from regard.training.word_dropout import hide_words

from .tiny import tiny

PAIRS = [
    Pair("jane visits africa , in may", "jane visite l' afrique , en mai"),
    Pair("on monday jane and tom sing", "lundi jane et tom , on chante on"),
    Pair("tom sees tom", "tom voit tom"),
]


def encoded(pairs: list[Pair], share: float, seed: int = 0) -> tuple[EncodedPairs, Tokenizer, Tokenizer]:
    source = Tokenizer.train((pair.source for pair in pairs), TokenizerConfig())
    target = Tokenizer.train((pair.target for pair in pairs), TokenizerConfig())
    return hide_words(encode_pairs(pairs, source, target), source, target, share, seed), source, target


def written(tokenizer: Tokenizer, ids: np.ndarray) -> str:
    return " ".join("?" if number == UNK else tokenizer.pieces[number] for number in ids)


def test_only_words_equally_frequent_on_both_sides_are_hidden() -> None:
    data, source, target = encoded(PAIRS, share=0.999999)
    assert [written(source, data.source[i]) for i in range(3)] == [
        "? visits africa , in may",
        "on monday ? and ? sing",
        "? sees ?",
    ]
    assert [written(target, data.target[i]) for i in range(3)] == [
        "? visite l' afrique , en mai",
        "lundi ? et ? , on chante on",
        "? voit ?",
    ]


def test_the_seed_determines_the_hidden_words_and_the_share_is_kept() -> None:
    pairs = synthetic("copy", 200, 5, 5, 2000)
    first, source, _ = encoded(pairs, 0.2, seed=1)
    again, _, _ = encoded(pairs, 0.2, seed=1)
    other, _, _ = encoded(pairs, 0.2, seed=2)
    assert np.array_equal(first.source.ids, again.source.ids)
    assert not np.array_equal(first.source.ids, other.source.ids)
    assert np.mean(first.source.ids == UNK) == pytest.approx(0.2, abs=0.02)
    assert np.array_equal(first.source.ids == UNK, first.target.ids == UNK), "hidden on both sides at once"
    assert UNK not in encoded(pairs, 0.0)[0].source.ids
    assert len(source) == 4 + 197


def test_fifty_thousand_pairs_take_less_than_a_second() -> None:
    tokenizer = Tokenizer.train([" ".join(f"w{number}" for number in range(2000))], TokenizerConfig())
    random = np.random.RandomState(0)
    lengths = random.randint(8, 16, 50_000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    sides = [Sequences(random.randint(4, 2004, offsets[-1], dtype=np.int32), offsets) for _ in range(2)]
    data = EncodedPairs(sides[0], sides[0], np.arange(50_000))
    start = time.process_time()
    hidden = hide_words(data, tokenizer, tokenizer, 0.2, 0)
    assert time.process_time() - start < 1.0
    assert np.mean(hidden.source.ids == UNK) == pytest.approx(0.2, abs=0.01)
    unlike = hide_words(EncodedPairs(sides[0], sides[1], data.numbers), tokenizer, tokenizer, 0.2, 0)
    assert np.mean(unlike.source.ids == UNK) < 0.01, "words that stand on one side alone stay"


@pytest.mark.slow
def test_a_model_trained_with_hidden_words_copies_a_symbol_it_never_saw(tmp_path: Path) -> None:
    recipe = tiny(
        data={"kind": "copy", "vocabulary": 20, "shortest": 3, "longest": 6, "train": 3000, "dev": 50},
        model={"embedding": 32, "encoder_units": 32, "decoder_units": 48},
        train={"steps": 350, "batch_sentences": 32, "learning_rate": 0.01, "schedule": "cosine", "hide_words": 0.2},
    )
    train(recipe, tmp_path / "run")
    translations = regard.load(tmp_path / "run").translate(["5 9 zebra 7", "quagga 4 11 6 18", "3 okapi 12"])
    assert [one.text for one in translations] == ["5 9 zebra 7", "quagga 4 11 6 18", "3 okapi 12"]
