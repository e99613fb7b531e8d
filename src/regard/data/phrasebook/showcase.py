"""The sentences that the demo shows: trees built by hand, rendered by the same grammar, in no split."""

import re
from functools import cache
from typing import Any

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import Tense, english, french
from regard.data.phrasebook.tree import Name, Nominal, PrepositionalPhrase, Pronoun, ProperNoun


def trees(pair: str) -> tuple[tree.Sentence, ...]:
    """The showcase of a pair; Hindi has no word for `dishes` here and tastes mangoes."""
    mat = Nominal("mat", "surface", "the")
    garden = Nominal("garden", "place", "the")
    asleep = tree.RelativeClause(_act("sleep", modifiers=(PrepositionalPhrase("in", garden),)))
    tasted = Nominal("dish", "dish", "none", plural=True, before="new")
    if pair == "en-hi":
        tasted = Nominal("mango", "dish", "a")
    return (
        _sentence(
            Nominal("cat", "animal", "the", after="black"),
            _act("sit", "past", goal=PrepositionalPhrase("on", mat)),
        ),
        _sentence(Pronoun("i"), _act("love", object=Pronoun("you"))),
        _sentence(Name("jane"), _act("visit", object=ProperNoun("africa", "country"), modifiers=(_in("september"),))),
        _sentence(None, _act("turn off", "command", object=Nominal("light", "device", "the", plural=True))),
        _sentence(
            Pronoun("she"),
            _act("go", "want", negated=True, goal=_to("united states"), modifiers=(tree.TimeAdverb("tomorrow"),)),
        ),
        _sentence(Pronoun("they"), _act("buy", "past", negated=True, object=Nominal("bread", "food", "none"))),
        _sentence(
            Nominal("girl", "person", "the", before="small", relative=asleep),
            _act("see", negated=True, object=Nominal("horse", "animal", "the", after="white")),
        ),
        _sentence(
            Name("michael"),
            _act("travel", "past", goal=_to("japan"), modifiers=(_in("april"),)),
            _act("explore", "past", object=Nominal("temple", "place", "the", plural=True)),
            _act("taste", "past", object=tasted),
            _act("meet", "past", object=Nominal("friend", "person", "many", plural=True)),
            _act("tell", "past", object=Nominal("story", "story", "none", plural=True)),
        ),
    )


def as_written(sentence: str) -> str:
    """A sentence with capitals and a full stop, as a person types it; the demo's models read lower case."""
    named = _proper_nouns().sub(lambda found: found[0].title(), sentence)
    return named[:1].upper() + named[1:] + ("।" if "\u0900" <= sentence[-1:] <= "\u097f" else ".")


@cache
def _proper_nouns() -> re.Pattern[str]:
    """Names, countries, cities and English months; French months have no capital."""
    words = english()
    places = [*words.countries, *words.cities]
    french_places = [french().proper_nouns[place][1] for place in places]
    names = [*words.feminine_names, *words.masculine_names, *places, *words.months, *french_places]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")


def _sentence(subject: tree.NounPhrase | None, *actions: tree.VerbPhrase) -> tree.Sentence:
    return tree.Sentence((tree.Clause(subject, actions),))


def _act(lemma: str, tense: Tense = "present", **others: Any) -> tree.VerbPhrase:
    verb = next(verb for verb in english().verbs if verb.lemma == lemma)
    return tree.VerbPhrase(verb, tense, **others)


def _in(month: str) -> PrepositionalPhrase:
    return PrepositionalPhrase("in", ProperNoun(month, "month"))


def _to(country: str) -> PrepositionalPhrase:
    return PrepositionalPhrase("to", ProperNoun(country, "country"))
