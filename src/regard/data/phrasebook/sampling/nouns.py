"""Random noun phrases and modifiers of a verb: places, company, times. `limit` bounds the words."""

from typing import Final, Literal

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import MASS_KINDS, Determiner, Kind, Tense, Use, Verb, english
from regard.data.phrasebook.sampling.draw import Draw

NEARBY: Final[tuple[Kind, ...]] = ("place", "place", "area")
ABROAD: Final[tuple[Literal["country", "city"], ...]] = ("country", "country", "city")
OBJECTS: Final = ("me", "you", "him", "her", "them")
UNAMBIGUOUS_OBJECTS: Final = ("me", "you", "them")


def nominal(draw: Draw, kind: Kind, use: Use, limit: int) -> tree.Nominal:
    """A noun in one to `limit` words (2 or more)."""
    noun = draw.pick(draw.stock.nouns[kind])
    mass = kind in MASS_KINDS
    plural = not mass and use != "place" and noun not in draw.stock.singular_only and draw.chance(0.4)
    determiner: Determiner
    if mass:
        determiner = "none" if use == "object" and draw.chance(0.5) else "the"
    else:
        determiner = draw.pick((english().plural if plural else english().singular)[use])
        if determiner in ("my", "your") and noun not in english().owned:
            determiner = "the"
    used = 1 if determiner == "none" else 2
    before = after = None
    if used < limit and draw.chance(0.5):
        if draw.chance(0.5):
            before = draw.pick(draw.stock.before[noun])
            used += 1
        if used < limit and (before is None or draw.chance(0.3)):
            after = draw.pick(draw.stock.after[noun])
            used += 1
    draw.budget -= used
    return tree.Nominal(noun, kind, determiner, plural, before, after)


def name(draw: Draw, *others: tree.NounPhrase | None) -> tree.Name:
    """A person by name, different from the others."""
    names = english().feminine_names + english().masculine_names
    lemma = draw.pick(names)
    while any(_is_named(lemma, other) for other in others):
        lemma = draw.pick(names)
    draw.budget -= 1
    return tree.Name(lemma)


def _is_named(lemma: str, phrase: tree.NounPhrase | None) -> bool:
    if isinstance(phrase, tree.Coordination):
        return _is_named(lemma, phrase.first) or _is_named(lemma, phrase.second)
    return isinstance(phrase, tree.Name) and phrase.lemma == lemma


def proper_noun(draw: Draw, kind: Literal["country", "city", "month"], limit: int = 3) -> tree.ProperNoun:
    """A country, a city or a month; `the united states` only where three words fit."""
    words = english()
    lemma = draw.pick({"country": words.countries, "city": words.cities, "month": words.months}[kind])
    if lemma == "united states":
        if limit < 3:
            return proper_noun(draw, kind, limit)
        draw.budget -= 2
    draw.budget -= 1
    return tree.ProperNoun(lemma, kind)


def direct_object(draw: Draw, verb: Verb, tense: Tense, subject: tree.NounPhrase | None, limit: int) -> tree.NounPhrase:
    """The object of a verb, in at most `limit` words (1 or more)."""
    if verb.pronouns and tense != "command" and (limit < 2 or draw.chance(0.3)):
        ambiguous = verb.lemma in draw.stock.ambiguous and tense != "past"
        lemma = draw.pick(UNAMBIGUOUS_OBJECTS if ambiguous else OBJECTS)
        speaker = {"me": "i", "you": "you"}.get(lemma)
        if isinstance(subject, tree.Pronoun) and subject.lemma == speaker:
            return direct_object(draw, verb, tense, subject, limit)
        draw.budget -= 1
        return tree.Pronoun(lemma)
    kinds = verb.objects
    if isinstance(subject, tree.Nominal) and subject.kind == "animal":
        kinds = tuple(kind for kind in kinds if kind in ("person", "name", "animal"))
    if limit < 2:
        kinds = tuple(kind for kind in kinds if kind in ("name", "country", "city", *MASS_KINDS))
    kind = draw.pick(kinds)
    if kind == "name":
        return name(draw, subject)
    if kind in ("country", "city"):
        return proper_noun(draw, kind, limit)  # type: ignore[arg-type]
    if limit < 2:  # a mass noun in one word: `bread`
        draw.budget -= 1
        return tree.Nominal(draw.pick(draw.stock.nouns[kind]), kind, "none")  # type: ignore[index, arg-type]
    return nominal(draw, kind, "definite" if verb.definite else "object", limit)  # type: ignore[arg-type]


def _nearby(draw: Draw, preposition: str, kind: Kind, limit: int) -> tree.PrepositionalPhrase:
    return tree.PrepositionalPhrase(preposition, nominal(draw, kind, "place", min(limit - 1, 3)))


def _abroad(draw: Draw, preposition: str, limit: int) -> tree.PrepositionalPhrase:
    return tree.PrepositionalPhrase(preposition, proper_noun(draw, draw.pick(ABROAD), limit - 1))


def place(draw: Draw, limit: int) -> tree.PrepositionalPhrase:
    """`in paris`, `in the garden`; `limit` is 2 or more."""
    draw.budget -= 1
    if limit < 3 or draw.chance(0.35):
        return _abroad(draw, "in", limit)
    return _nearby(draw, "in", draw.pick(NEARBY), limit)


def seat(draw: Draw, limit: int) -> tree.PrepositionalPhrase:
    """The place of sitting or lying: `on the mat`; `limit` is 3 or more."""
    draw.budget -= 1
    preposition = draw.pick(("on", "on", "on", "under", "in"))
    return _nearby(draw, preposition, draw.pick(NEARBY) if preposition == "in" else "surface", limit)


def person(draw: Draw, preposition: str, limit: int, subject: tree.NounPhrase | None) -> tree.PrepositionalPhrase:
    """`with michael`, `to the young doctor`, never the subject itself; `limit` is 2 or more."""
    draw.budget -= 1
    if limit < 3 or draw.chance(0.35):
        return tree.PrepositionalPhrase(preposition, name(draw, subject))
    return tree.PrepositionalPhrase(preposition, nominal(draw, "person", "subject", min(limit - 1, 3)))


def goal(draw: Draw, verb: Verb, subject: tree.NounPhrase | None, limit: int) -> tree.PrepositionalPhrase:
    """The place or person that the verb needs."""
    if verb.goal == "seat":
        return seat(draw, limit)
    if verb.goal == "receiver":
        return person(draw, "to", limit, subject)
    draw.budget -= 1
    arrival = verb.goal == "arrival"
    if verb.goal == "country" or limit < 3 or draw.chance(0.4):
        return _abroad(draw, "in" if arrival else "to", limit)
    return _nearby(draw, "at" if arrival else "to", "place", limit)


def time(draw: Draw, tense: Tense) -> tree.Modifier:
    """A time that fits the tense, in one or two words."""
    lemma = draw.pick(english().times[tense])
    if lemma == "month":
        draw.budget -= 1
        return tree.PrepositionalPhrase("in", proper_noun(draw, "month"))
    draw.budget -= len(lemma.split())
    return tree.TimeAdverb(lemma)
