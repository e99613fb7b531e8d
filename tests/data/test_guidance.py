"""Links between words become links between pieces, and travel with the batch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.alignment import Links
from regard.data.batching import EpochBatcher
from regard.data.dataset import PieceLimits, encode_pairs
from regard.data.guidance import Guidance, encode_links, known_links, read_links
from regard.data.pair import Pair
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import Kind, TokenizerConfig

PAIRS = [
    Pair("don't go", "ne va pas", Links.of([(0, 0), (0, 2), (1, 1)])),
    Pair("a much longer source sentence here", "x", Links.of([(0, 0)])),
    Pair("the cat sleeps", "le chat dort", Links.of([(0, 0), (1, 1)], possible=[(2, 2)])),
]


def tokenizer(side: str, kind: Kind = "word") -> Tokenizer:
    return Tokenizer.train([getattr(pair, side) for pair in PAIRS], TokenizerConfig(kind=kind))


@pytest.mark.parametrize("kind", ["word", "character"])
def test_every_piece_of_a_word_is_linked_and_the_batch_is_padded(kind: Kind) -> None:
    source, target = tokenizer("source", kind), tokenizer("target", kind)
    encoded = encode_pairs(PAIRS, source, target, PieceLimits(source=20))  # the second pair is too long for characters
    links = encode_links(known_links(PAIRS), encoded, source, target)
    batcher = EpochBatcher(encoded, sentences=4, bucket=False, shuffle=False, guide=Guidance(links, 0.5))
    batch = batcher.batch(np.arange(len(encoded)))
    assert batch.guidance is not None
    dense = batch.guidance.links
    assert dense is not None
    assert dense.shape == (len(encoded), batch.target_out.shape[1], batch.source.shape[1])
    for row, number in enumerate(encoded.numbers.tolist()):
        pair = PAIRS[number]
        assert pair.links is not None
        sides = (source, pair.source), (target, pair.target)
        one, other = (side.encode_words(text, characters=False).words for side, text in sides)
        wanted = {
            (t, s)
            for t, target_word in enumerate(other)
            for s, source_word in enumerate(one)
            if (source_word, target_word) in pair.links.sure
        }
        assert {(int(t), int(s)) for t, s in dense[row].nonzero()} == wanted


def test_guidance_moves_and_is_cut_with_its_batch() -> None:
    source, target = tokenizer("source"), tokenizer("target")
    encoded = encode_pairs(PAIRS, source, target)
    guide = Guidance(encode_links(known_links(PAIRS), encoded, source, target), 0.5)
    batch = EpochBatcher(encoded, sentences=4, bucket=False, shuffle=False, guide=guide).batch(np.arange(3))
    assert batch.guidance is not None
    assert batch.guidance.links is not None
    first, second = batch.halves()
    for half, rows in ((first, slice(0, 1)), (second, slice(1, 3))):
        assert half.guidance is not None
        assert half.guidance.links is not None
        kept = batch.guidance.links[rows, : half.target_out.shape[1], : half.source.shape[1]]
        torch.testing.assert_close(half.guidance.links, kept)
    moved = batch.to("meta").guidance
    assert moved is not None
    assert moved.links is not None
    assert moved.links.device.type == "meta"


def test_words_that_white_space_separates() -> None:
    pairs = [Pair("l'été, vite", "summer, quick", Links.of([(1, 1)]))]
    source = Tokenizer.train([pairs[0].source], TokenizerConfig())
    target = Tokenizer.train([pairs[0].target], TokenizerConfig())
    encoded = encode_pairs(pairs, source, target)
    links = encode_links(known_links(pairs), encoded, source, target, spaces=True)
    assert (links.sources.tolist(), links.targets.tolist()) == ([3], [2])  # vite, quick


def test_the_step_after_a_word_can_be_guided() -> None:
    source, target = tokenizer("source"), tokenizer("target")
    encoded = encode_pairs(PAIRS, source, target)
    plain, after = (encode_links(known_links(PAIRS), encoded, source, target, shift=shift) for shift in (0, 1))
    assert (after.targets - 1).tolist() == plain.targets.tolist()
    batch = EpochBatcher(encoded, sentences=4, bucket=False, shuffle=False, guide=Guidance(after, 1.0)).batch(
        np.arange(3)
    )
    assert batch.guidance is not None
    assert batch.guidance.links is not None
    assert batch.guidance.links[0, 3, 0]  # the last word is taught where EOS is written
    assert not batch.guidance.links[:, 0].any()


def test_a_file_of_links(tmp_path: Path) -> None:
    path = tmp_path / "links"
    path.write_text("0-0 0-2 1-1\n\n0-0 1-1\n", encoding="utf-8")
    assert [links for _, links in read_links(path, PAIRS)] == [PAIRS[0].links, Links.of([]), Links.of([(0, 0), (1, 1)])]
    for text, message in (
        ("0-0\n", "ends at line 1, but training pair 2 needs links too"),
        ("\n\n\n\n", "has more than 3 lines, but there are no more training pairs"),
        ("\n0:0\n\n", "line 2: '0:0' is not a link"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            list(read_links(path, PAIRS))


def test_invalid_links_raise() -> None:
    source, target = tokenizer("source"), tokenizer("target")
    with pytest.raises(InputError, match="training pair 2 has no word links: name a file of them"):
        list(known_links([PAIRS[0], Pair("a", "b")]))
    wrong = [Pair("a b", "c", Links.of([(2, 0)]))]
    with pytest.raises(InputError, match=r"training pair 1: link 2-0 lies outside its 2 source and 1 target words"):
        encode_links(known_links(wrong), encode_pairs(wrong, source, target), source, target)
