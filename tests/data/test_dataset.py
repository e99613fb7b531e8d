"""Pairs as arrays of ids: the ids are the tokenizer's, limits are kept and counted, memory stays small."""

from collections.abc import Iterator

import numpy as np
import pytest

from regard.data.dataset import PieceLimits, encode_pairs
from regard.data.pair import Pair
from regard.data.synthetic import synthetic
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig

WORDS = Tokenizer.train(["a b c d e"], TokenizerConfig())


def stream(*sources: str) -> Iterator[Pair]:
    yield from (Pair(source, f"{source} e") for source in sources)


def test_items_are_the_tokenizer_s_ids() -> None:
    encoded = encode_pairs(stream("a b", "c", "zzz"), WORDS, WORDS)
    assert len(encoded) == len(encoded.source) == 3
    for item, source in enumerate(["a b", "c", "zzz"]):
        assert encoded.source[item].tolist() == WORDS.encode_ids(source)
        assert encoded.target[item].tolist() == WORDS.encode_ids(f"{source} e")
    assert encoded.source.lengths.tolist() == [2, 1, 1]
    assert encoded.source.ids.dtype == np.int32
    assert encoded.notes == ()
    for beyond in (-1, 3):
        with pytest.raises(IndexError):
            encoded.source[beyond]


def test_long_and_blank_pairs_are_left_out_and_reported() -> None:
    encoded = encode_pairs(stream("a", "a b c", "", "\x00", "b"), WORDS, WORDS, PieceLimits(source=2))
    assert encoded.numbers.tolist() == [0, 4]
    assert (encoded.blank, encoded.dropped, encoded.truncated) == (2, 1, 0)
    assert encoded.notes == ("2 pairs left out: a side is blank", "1 pair left out: longer than the limit")


def test_long_pairs_are_truncated_on_request() -> None:
    encoded = encode_pairs(stream("a b c", "a"), WORDS, WORDS, PieceLimits(2, 3, "truncate"))
    assert [encoded.source[item].tolist() for item in range(2)] == [[4, 5], [4]]
    assert [encoded.target[item].tolist() for item in range(2)] == [[4, 5, 6], [4, 8]]
    assert encoded.notes == ("1 pair cut to the limit",)


def test_no_remaining_pair_raises() -> None:
    with pytest.raises(InputError, match=r"no pair is left to use: 1 with a blank side, 1 longer .* raise the limit"):
        encode_pairs(stream("a b c", ""), WORDS, WORDS, PieceLimits(source=1))
    with pytest.raises(InputError, match="is the corpus empty"):
        encode_pairs(iter(()), WORDS, WORDS)


def test_the_seed_determines_bpe_dropout() -> None:
    pieces = Tokenizer.train(["abcabc abc"] * 9, TokenizerConfig(kind="bpe", vocabulary=30, dropout=0.5))
    pairs = [Pair("abcabc abc", "abc")] * 9
    plain, first, second, third = (
        encode_pairs(pairs, pieces, pieces, seed=seed).source.ids.tolist() for seed in (None, "1", "1", "2")
    )
    assert plain != first == second != third


def test_arrays_take_four_bytes_a_piece_and_eight_a_pair() -> None:
    pairs = synthetic("copy", 50, 3, 12, 2_000)
    words = Tokenizer.train((pair.source for pair in pairs), TokenizerConfig())
    encoded = encode_pairs(pairs, words, words)
    pieces = sum(len(pair.source.split()) for pair in pairs)
    assert encoded.source.ids.nbytes == 4 * pieces
    assert encoded.source.offsets.nbytes == 8 * (len(pairs) + 1)
