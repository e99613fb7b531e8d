"""The language pairs of the phrasebook, and distinct sentence pairs of each with gold links.

The source text alone decides the split.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from regard.alignment.links import Links
from regard.data.pair import Pair
from regard.data.phrasebook import english, french, hindi
from regard.data.phrasebook.lexicon import MISSING
from regard.data.phrasebook.lexicon import french as french_lexicon
from regard.data.phrasebook.lexicon import hindi as hindi_lexicon
from regard.data.phrasebook.sampling.draw import Draw, Stock, build_stock
from regard.data.phrasebook.sampling.sentences import sentence
from regard.data.phrasebook.showcase import trees
from regard.data.phrasebook.tree import Line, Sentence

PAIRS: Final = ("en-fr", "fr-en", "en-hi")
Split = Literal["train", "dev", "test"]
SPLITS: Final[tuple[Split, ...]] = ("train", "dev", "test")
SHORTEST: Final = 3
LONGEST: Final = 120
MOST_FAILURES: Final = 5_000
"""Draws in a row without a new sentence after which a range counts as exhausted."""


@dataclass(frozen=True)
class Language:
    """`render` gives a sentence in the language beside English, or None if it lacks a word form.

    `from_foreign`: English is the target.
    """

    stock: Stock
    render: Callable[[Sentence], Line | None]
    from_foreign: bool


@cache
def language(pair: str) -> Language:
    """The language behind `en-fr`, `fr-en` or `en-hi`."""
    if pair not in PAIRS:
        raise ValueError(f"the phrasebook has no pair {pair!r}; valid pairs are {', '.join(PAIRS)}")
    if pair == "en-hi":
        return Language(_hindi_stock(), hindi.render, from_foreign=False)
    return Language(_french_stock(pair == "fr-en"), french.render, pair == "fr-en")


def _french_stock(is_source: bool) -> Stock:
    """The French lexicon. As a source, verbs that begin with a vowel are ambiguous: before them l' may be him or her.

    `mat` has no plural: `pas de tapis` could be a mat or mats.
    """
    words = french_lexicon()
    elided = [lemma for lemma, verb in words.verbs.items() if verb.infinitive.startswith(french.VOWELS)]
    return build_stock(words, singular_only=["mat"], ambiguous=elided if is_source else [])


def _hindi_stock() -> Stock:
    words = hindi_lexicon()
    return build_stock(
        words,
        singular_only=[lemma for lemma, noun in words.nouns.items() if noun.direct_plural == MISSING],
        no_command=[
            lemma for lemma, verb in words.verbs.items() if words.conjugations[verb.verb].imperative == MISSING
        ],
        no_relative=[lemma for lemma, verb in words.verbs.items() if verb.case in ("का", "की")],
    )


def pairs(pair: str, split: str, count: int, seed: int = 0, shortest: int = SHORTEST, longest: int = 20) -> list[Pair]:
    """`count` pairs with distinct sources of `shortest` to `longest` words; the same arguments give the same pairs."""
    spoken = language(pair)
    if split not in SPLITS:
        raise ValueError(f"the phrasebook has no split {split!r}; valid splits are {', '.join(SPLITS)}")
    if count < 0:
        raise ValueError(f"{count} sentences were requested; request 0 or more")
    if not SHORTEST <= shortest <= longest <= LONGEST:
        raise ValueError(
            f"no sentences of {shortest} to {longest} words: choose {SHORTEST} <= shortest <= longest <= {LONGEST}"
        )
    draw = Draw(f"{pair} {split} {seed} {shortest} {longest}", spoken.stock)
    kept: list[Pair] = []
    seen: set[str] = {item.source for item in showcase(pair)}
    failures = 0
    while len(kept) < count:
        item = _attempt(draw, spoken, split, shortest, longest, seen)
        if item is not None:
            kept.append(item)
            seen.add(item.source)
        failures = 0 if item is not None else failures + 1
        if failures > MOST_FAILURES:
            raise ValueError(
                f"the phrasebook's {split} split of {pair} seems to have no more than {len(kept)} sentences of "
                f"{shortest} to {longest} words, {count} were requested; request fewer, or a wider range of lengths"
            )
    return kept


def showcase(pair: str) -> list[Pair]:
    """A few sentences that show what attention does, kept out of every split."""
    spoken = language(pair)
    return [translate(spoken, tree) for tree in trees(pair)]


def split_of(source: str) -> Split:
    """The split of a source sentence, which never changes: 90 % train, 5 % dev, 5 % test."""
    lot = hashlib.blake2b(source.encode(), digest_size=4).digest()[0] % 20
    return "dev" if lot == 0 else "test" if lot == 1 else "train"


def translate(spoken: Language, tree: Sentence) -> Pair:
    """One tree in both languages, with the links between them."""
    ours, theirs = english.render(tree), spoken.render(tree)
    if theirs is None:
        raise ValueError(f"no words for {join(ours.words)!r} in the other language of the phrasebook")
    return _linked(spoken, ours, theirs)


def _linked(spoken: Language, ours: Line, theirs: Line) -> Pair:
    links = links_between(ours, theirs)
    if spoken.from_foreign:
        return Pair(join(theirs.words), join(ours.words), links.flipped())
    return Pair(join(ours.words), join(theirs.words), links)


def _attempt(draw: Draw, spoken: Language, split: str, shortest: int, longest: int, seen: set[str]) -> Pair | None:
    """One random sentence, or None if it has the wrong length or split, is a duplicate, or lacks a word form.

    The target is rendered only after the source has been accepted.
    """
    tree = sentence(draw, draw.between(shortest, longest + 2))
    ours = english.render(tree)
    theirs = spoken.render(tree) if spoken.from_foreign else None
    words = ours.words if theirs is None else theirs.words
    if not shortest <= len(words) <= longest:
        return None
    source = join(words)
    if split_of(source) != split or source in seen:
        return None
    theirs = theirs or spoken.render(tree)
    return None if theirs is None else _linked(spoken, ours, theirs)


def links_between(english: Line, foreign: Line) -> Links:
    """(English word, foreign word); a key that the English sentence has no word for gives no link."""
    places = {key: place for place, (sure, others) in enumerate(english.keys) for key in (sure, *others)}
    rows = list(enumerate(foreign.keys))
    return Links.of(
        ((places[sure], position) for position, (sure, _) in rows if sure in places),
        ((places[key], position) for position, (_, possible) in rows for key in possible if key in places),
    )


def join(words: Sequence[str]) -> str:
    """The words as text: no space after an elided word or before a comma."""
    return " ".join(words).replace("' ", "'").replace(" ,", ",")
