"""The pairs of languages on offer: what each can speak of, and who says it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from regard.data.phrasebook import french, hindi
from regard.data.phrasebook.french_sound import VOWELS
from regard.data.phrasebook.lexicon import french as french_words
from regard.data.phrasebook.lexicon import hindi as hindi_words
from regard.data.phrasebook.lexicon.hindi_verbs import CONJUGATED, VERBS
from regard.data.phrasebook.line import ForeignLine
from regard.data.phrasebook.sampling.stock import Stock, build_stock
from regard.data.phrasebook.tree import Sentence

PAIRS: Final = ("en-fr", "fr-en", "en-hi")
INVARIABLE: Final = frozenset(["mat"])
"""Nouns whose French plural looks like the singular: `pas de tapis` would be a mat or mats."""


@dataclass(frozen=True)
class Language:
    """`speak` says a sentence in the language that is not English; `flipped` where that one is the source.

    A language that lacks a word form says None.
    """

    stock: Stock
    speak: Callable[[Sentence], ForeignLine | None]
    flipped: bool


@cache
def language(pair: str) -> Language:
    """The language behind `en-fr`, `fr-en` or `en-hi`."""
    if pair not in PAIRS:
        raise ValueError(f"the phrasebook has no pair {pair!r}; valid pairs are {', '.join(PAIRS)}")
    if pair == "en-hi":
        return Language(_hindi_stock(), hindi.speak, flipped=False)
    return Language(_french_stock(pair == "fr-en"), french.speak, pair == "fr-en")


def _french_stock(source: bool) -> Stock:
    """All there is; as a source French must tell l' (him) from l' (her), which only a participle does."""
    blurred = [lemma for lemma, verb in french_words.VERBS.items() if verb.infinitive[0] in VOWELS]
    return build_stock(
        noun=lambda noun: noun in french_words.NOUNS,
        adjective=lambda adjective, kind: adjective in french_words.ADJECTIVES,
        verb=lambda verb: verb.goal == "seat" or verb.lemma in french_words.VERBS,
        command=lambda verb: True,
        relative=lambda verb: True,
        singular=INVARIABLE,
        blurred=frozenset(blurred if source else ()),
    )


def _hindi_stock() -> Stock:
    """What Hindi words there are for; some nouns have no plural that the spelling dictionary knows."""
    nouns, missing = hindi_words.NOUNS, hindi_words.MISSING
    return build_stock(
        noun=lambda noun: noun in nouns,
        adjective=lambda adjective, kind: adjective in hindi_words.ADJECTIVES,
        verb=lambda verb: verb.goal == "seat" or verb.lemma in VERBS,
        command=lambda verb: CONJUGATED[VERBS[verb.lemma].verb].imperative != missing,
        relative=lambda verb: VERBS[verb.lemma].case not in ("का", "की"),
        singular=frozenset(lemma for lemma, noun in nouns.items() if noun.directs == missing),
    )
