"""Distinct sentence pairs of the phrasebook with gold links, split for ever by the source text."""

import hashlib
from typing import Final, Literal

from regard.data.pair import Pair
from regard.data.phrasebook import english
from regard.data.phrasebook.languages import Language, language
from regard.data.phrasebook.line import written
from regard.data.phrasebook.sampling import Draw, sentence
from regard.data.phrasebook.showcase import trees
from regard.data.phrasebook.tree import Sentence

Split = Literal["train", "dev", "test"]
SPLITS: Final[tuple[Split, ...]] = ("train", "dev", "test")
SHORTEST: Final = 3
LONGEST: Final = 120
PATIENCE: Final = 5_000
"""Sentences drawn in vain, one after the other, before a range counts as used up."""


def pairs(pair: str, split: str, count: int, seed: int = 0, shortest: int = SHORTEST, longest: int = 20) -> list[Pair]:
    """`count` pairs with distinct sources of `shortest` to `longest` words; the same arguments give the same pairs."""
    tongue = language(pair)
    _check(split, count, shortest, longest)
    draw = Draw(f"{pair} {split} {seed} {shortest} {longest}", tongue.stock)
    kept: list[Pair] = []
    seen: set[str] = {item.source for item in showcase(pair)}
    vain = 0
    while len(kept) < count:
        item = _attempt(draw, tongue, split, shortest, longest, seen)
        if item is not None:
            kept.append(item)
            seen.add(item.source)
            vain = 0
            continue
        vain += 1
        if vain > PATIENCE:
            raise ValueError(
                f"the phrasebook's {split} split of {pair} seems to have no more than {len(kept)} sentences of "
                f"{shortest} to {longest} words, {count} were asked for; ask for fewer, or for a wider range of lengths"
            )
    return kept


def showcase(pair: str) -> list[Pair]:
    """A few sentences that show what attention does, kept out of every split."""
    tongue = language(pair)
    return [translate(tongue, tree) for tree in trees(pair)]


def split_of(source: str) -> Split:
    """Where a source sentence belongs, now and for ever: 90 % train, 5 % dev, 5 % test."""
    lot = hashlib.blake2b(source.encode(), digest_size=4).digest()[0] % 20
    return "dev" if lot == 0 else "test" if lot == 1 else "train"


def translate(tongue: Language, tree: Sentence) -> Pair:
    """One tree in both languages, with the links between them."""
    spoken, foreign = english.speak(tree), tongue.speak(tree)
    if foreign is None:
        raise ValueError(f"no words for {written(spoken.words)!r} in the other language of the phrasebook")
    links = foreign.links(spoken.places)
    if tongue.flipped:
        return Pair(written(foreign.words), written(spoken.words), links.flipped())
    return Pair(written(spoken.words), written(foreign.words), links)


def _attempt(draw: Draw, tongue: Language, split: str, shortest: int, longest: int, seen: set[str]) -> Pair | None:
    """One random sentence, or None where it has the wrong length, is of another split or was seen before.

    Nothing is spent on the other language before the source is known to be wanted.
    """
    tree = sentence(draw, draw.between(shortest, longest + 2))
    spoken = english.speak(tree)
    foreign = tongue.speak(tree) if tongue.flipped else None
    words = foreign.words if foreign is not None else spoken.words
    if not shortest <= len(words) <= longest:
        return None
    source = written(words)
    if split_of(source) != split or source in seen:
        return None
    foreign = foreign or tongue.speak(tree)
    if foreign is None:
        return None
    links = foreign.links(spoken.places)
    if tongue.flipped:
        return Pair(source, written(spoken.words), links.flipped())
    return Pair(source, written(foreign.words), links)


def _check(split: str, count: int, shortest: int, longest: int) -> None:
    if split not in SPLITS:
        raise ValueError(f"the phrasebook has no split {split!r}; valid splits are {', '.join(SPLITS)}")
    if count < 0:
        raise ValueError(f"{count} sentences were asked for; ask for 0 or more")
    if not SHORTEST <= shortest <= longest <= LONGEST:
        raise ValueError(
            f"no sentences of {shortest} to {longest} words: choose {SHORTEST} <= shortest <= longest <= {LONGEST}"
        )
