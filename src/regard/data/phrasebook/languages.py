"""The language pairs of the phrasebook: the vocabulary of each, and the function that renders the other language."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from regard.data.phrasebook import french, hindi
from regard.data.phrasebook.lexicon import MISSING
from regard.data.phrasebook.lexicon import french as french_lexicon
from regard.data.phrasebook.lexicon import hindi as hindi_lexicon
from regard.data.phrasebook.line import Line
from regard.data.phrasebook.sampling.draw import Stock, build_stock
from regard.data.phrasebook.tree import Sentence

PAIRS: Final = ("en-fr", "fr-en", "en-hi")


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
