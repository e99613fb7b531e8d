"""Guided attention: word links as links between pieces, and the weights of the guidance losses."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Int32, Int64
from torch import Tensor

from regard.alignment import Links, parse_pharaoh
from regard.data.dataset import EncodedPairs
from regard.data.lines import find_file, read_lines
from regard.data.pair import Pair
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.words import word_spans

Linked = TypeVar("Linked")
Changed = TypeVar("Changed")


@dataclass(frozen=True)
class Guidance(Generic[Linked]):
    """The links that attention should follow: those of a corpus, or of a batch padded to [batch, target, source].

    `weight` is the weight of the link loss for one head of one layer, `coverage` that of attending to every source
    piece once in total. A batch's `links[b, t, s]` is True where decoder step t should attend to source piece s.
    """

    links: Linked | None
    weight: float = 0.0
    layer: int = 0
    head: int = 0
    coverage: float = 0.0

    def map(self, change: Callable[[Linked], Changed]) -> "Guidance[Changed]":
        links = None if self.links is None else change(self.links)
        return Guidance(links, self.weight, self.layer, self.head, self.coverage)


@dataclass(frozen=True)
class PieceLinks:
    """Item i links source piece sources[k] to target piece targets[k] for k in offsets[i] … offsets[i + 1] - 1."""

    sources: Int32[np.ndarray, "links"]
    targets: Int32[np.ndarray, "links"]
    offsets: Int64[np.ndarray, "bounds"]

    def dense(self, items: Int64[np.ndarray, "rows"], target: int, source: int) -> Bool[Tensor, "rows target source"]:
        """The links of some items as a padded batch."""
        counts = self.offsets[items + 1] - self.offsets[items]
        rows = np.repeat(np.arange(len(items)), counts)
        first = np.repeat(self.offsets[items] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        places = first + np.arange(len(rows))
        links = np.zeros((len(items), target, source), dtype=bool)
        links[rows, self.targets[places], self.sources[places]] = True
        return torch.from_numpy(links)


def read_links(path: Path, pairs: Iterable[Pair]) -> Iterator[tuple[Pair, Links]]:
    """Each pair with its line of a Pharaoh file; raises if the file has another number of lines."""
    path = find_file(path)
    lines = read_lines(path)
    count = 0
    for count, pair in enumerate(pairs, 1):
        line = next(lines, None)
        if line is None:
            raise InputError(f"{path} ends at line {count - 1:,}, but training pair {count:,} needs links too")
        try:
            yield pair, parse_pharaoh(line, where=f"{path}, line {count}")
        except ValueError as error:
            raise InputError(str(error)) from None
    if next(lines, None) is not None:
        raise InputError(f"{path} has more than {count:,} lines, but there are no more training pairs")


def known_links(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, Links]]:
    """Each pair with the links of its corpus."""
    for number, pair in enumerate(pairs, 1):
        if pair.links is None:
            raise InputError(
                f"training pair {number:,} has no word links: name a file of them with train.guide.links "
                "(regard align --split train writes one)"
            )
        yield pair, pair.links


def encode_links(
    linked: Iterable[tuple[Pair, Links]],
    encoded: EncodedPairs,
    source: Tokenizer,
    target: Tokenizer,
    *,
    spaces: bool = False,
    shift: int = 0,
) -> PieceLinks:
    """Sure links between words (split by the tokenizers, or at white space) as links between their pieces.

    Target piece i is guided at step i + shift: step i predicts the piece, step i + 1 has read it.
    """
    sources, targets, offsets = array("i"), array("i"), array("q", [0])
    wanted = iter(encoded.numbers.tolist())
    following = next(wanted, None)
    for number, (pair, links) in enumerate(linked):
        if number != following:
            continue  # this pair is left out of training
        following = next(wanted, None)
        sides = [
            one.encode_words(text, spaces=spaces, characters=False)
            for one, text in ((source, pair.source), (target, pair.target))
        ]
        if any(s >= sides[0].count or t >= sides[1].count for s, t in links.sure):
            _check(number, links, pair, (source, target), spaces)
        heads, tails = (_pieces(side.words) for side in sides)
        for s, t in sorted(links.sure):
            for left in heads.get(s, ()):
                for right in tails.get(t, ()):
                    sources.append(left)
                    targets.append(right + shift)
        offsets.append(len(sources))
    return PieceLinks(
        np.frombuffer(sources, np.int32) if sources else np.zeros(0, np.int32),
        np.frombuffer(targets, np.int32) if targets else np.zeros(0, np.int32),
        np.frombuffer(offsets, np.int64),
    )


def _pieces(words: list[int | None]) -> dict[int, list[int]]:
    """The pieces of each word."""
    found: dict[int, list[int]] = {}
    for piece, word in enumerate(words):
        if word is not None:
            found.setdefault(word, []).append(piece)
    return found


def _check(number: int, links: Links, pair: Pair, tokenizers: tuple[Tokenizer, Tokenizer], spaces: bool) -> None:
    """Raise for links to words that do not exist; links to a final stop that normalisation drops are allowed."""
    counts = [
        len(word_spans(text, "spaces" if spaces else tokenizer.config.words))
        for text, tokenizer in zip((pair.source, pair.target), tokenizers, strict=True)
    ]
    for source, target in sorted(links.sure):
        if source >= counts[0] or target >= counts[1]:
            raise InputError(
                f"training pair {number + 1:,}: link {source}-{target} lies outside its {counts[0]} source and "
                f"{counts[1]} target words; links count from 0, source first, as the model splits words "
                '(train.guide.words = "spaces": what white space separates)'
            )
