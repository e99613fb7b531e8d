"""Random noun phrases and what stands around a verb: places, company, times."""

from typing import Final, Literal

from regard.data.phrasebook.lexicon.english import CITIES, COUNTRIES, MASSES, MONTHS, NAMES, OWNED, Kind, Verb
from regard.data.phrasebook.sampling.draw import Draw
from regard.data.phrasebook.tree import (
    Around,
    Couple,
    Determiner,
    Moment,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Proper,
    Tense,
)

Use = Literal["subject", "object", "definite", "place"]
Whereabouts = Literal["country", "city", "month"]
NEARBY: Final[tuple[Kind, ...]] = ("place", "place", "area")
ABROAD: Final[tuple[Whereabouts, ...]] = ("country", "country", "city")
SINGULAR: Final[dict[Use, tuple[Determiner, ...]]] = {
    "subject": ("the", "the", "the", "the", "a", "my", "your", "this"),
    "object": ("the", "the", "the", "the", "a", "a", "a", "my", "your", "this"),
    "definite": ("the", "the", "the", "my", "your", "this"),
    "place": ("the", "the", "the", "the", "a", "my", "this"),
}
PLURAL: Final[dict[Use, tuple[Determiner, ...]]] = {
    "subject": ("the", "the", "the", "my", "your", "this", "two", "three", "many"),
    "object": ("the", "the", "none", "none", "my", "your", "this", "two", "three", "many"),
    "definite": ("the", "the", "the", "my", "your", "this"),
    "place": ("the",),
}
PEOPLE: Final = tuple(NAMES)
OBJECTS: Final = ("me", "you", "him", "her", "them")
PLAIN_OBJECTS: Final = ("me", "you", "them")
TIMES: Final[dict[Tense, tuple[str, ...]]] = {
    "present": ("now", "every day", "month"),
    "past": ("yesterday", "month"),
    "going": ("tomorrow", "month"),
    "want": ("tomorrow", "month"),
    "can": ("tomorrow", "month"),
    "command": ("now", "every day", "tomorrow"),
}


def nominal(draw: Draw, kind: Kind, use: Use, spare: int) -> Nominal:
    """A noun with at least one word and at most `spare` (2 or more) words."""
    noun = draw.pick(draw.stock.nouns[kind])
    mass = kind in MASSES
    plural = not mass and use != "place" and noun not in draw.stock.singular and draw.chance(0.4)
    determiner: Determiner
    if mass:
        determiner = "none" if use == "object" and draw.chance(0.5) else "the"
    else:
        determiner = draw.pick((PLURAL if plural else SINGULAR)[use])
        if determiner in ("my", "your") and noun not in OWNED:
            determiner = "the"
    left = spare - (determiner != "none") - 1
    before = after = None
    if left > 0 and draw.chance(0.5):
        if draw.chance(0.5):
            before = draw.pick(draw.stock.before[noun])
            left -= 1
        if left > 0 and (before is None or draw.chance(0.3)):
            after = draw.pick(draw.stock.after[noun])
    draw.room -= 1 + (determiner != "none") + (before is not None) + (after is not None)
    return Nominal(noun, kind, determiner, plural, before, after)


def bare(draw: Draw, kind: Kind) -> Nominal:
    """A mass in one word: `bread`."""
    draw.room -= 1
    return Nominal(draw.pick(draw.stock.nouns[kind]), kind, "none")


def name(draw: Draw, *others: NounPhrase | None) -> Name:
    """A person by name who is none of the others."""
    lemma = draw.pick(PEOPLE)
    while any(_named(lemma, other) for other in others):
        lemma = draw.pick(PEOPLE)
    draw.room -= 1
    return Name(lemma)


def _named(lemma: str, phrase: NounPhrase | None) -> bool:
    if isinstance(phrase, Couple):
        return _named(lemma, phrase.first) or _named(lemma, phrase.second)
    return isinstance(phrase, Name) and phrase.lemma == lemma


def proper(draw: Draw, kind: Whereabouts, spare: int = 3) -> Proper:
    """A country, a city or a month; countries of three words only where they fit."""
    lemma = draw.pick({"country": COUNTRIES, "city": CITIES, "month": MONTHS}[kind])
    if lemma == "united states":
        if spare < 3:
            return proper(draw, kind, spare)
        draw.room -= 2
    draw.room -= 1
    return Proper(lemma, kind)


def direct_object(draw: Draw, verb: Verb, tense: Tense, subject: NounPhrase | None, spare: int) -> NounPhrase:
    """What the verb acts on, in at most `spare` words (1 or more)."""
    if verb.pronouns and tense != "command" and (spare < 2 or draw.chance(0.3)):
        blurred = verb.lemma in draw.stock.blurred and tense != "past"
        lemma = draw.pick(PLAIN_OBJECTS if blurred else OBJECTS)
        speaker = {"me": "i", "you": "you"}.get(lemma)
        if not isinstance(subject, Pronoun) or subject.lemma != speaker:
            draw.room -= 1
            return Pronoun(lemma)
        return direct_object(draw, verb, tense, subject, spare)
    kinds = verb.objects
    if isinstance(subject, Nominal) and subject.kind == "animal":
        kinds = tuple(kind for kind in kinds if kind in ("person", "name", "animal"))
    if spare < 2:
        kinds = tuple(kind for kind in kinds if kind in ("name", "country", "city", "food", "drink"))
    kind = draw.pick(kinds)
    if kind == "name":
        return name(draw, subject)
    if kind in ("country", "city"):
        return proper(draw, kind, spare)  # type: ignore[arg-type]
    if spare < 2:
        return bare(draw, kind)  # type: ignore[arg-type]
    return nominal(draw, kind, "definite" if verb.definite else "object", spare)  # type: ignore[arg-type]


def place(draw: Draw, spare: int) -> Around:
    """Where: `in paris`, `in the garden`; `spare` is 2 or more."""
    draw.room -= 1
    if spare < 3 or draw.chance(0.35):
        return Around("in", proper(draw, draw.pick(ABROAD), spare - 1))
    return Around("in", nominal(draw, draw.pick(NEARBY), "place", min(spare - 1, 3)))


def seat(draw: Draw, spare: int) -> Around:
    """Where one sits or lies: `on the mat`; `spare` is 3 or more."""
    draw.room -= 1
    preposition = draw.pick(("on", "on", "on", "under", "in"))
    if preposition == "in":
        return Around("in", nominal(draw, draw.pick(NEARBY), "place", min(spare - 1, 3)))
    return Around(preposition, nominal(draw, "surface", "place", min(spare - 1, 3)))


def person(draw: Draw, preposition: str, spare: int, subject: NounPhrase | None) -> Around:
    """`with michael`, `to the young doctor`, never the subject itself; `spare` is 2 or more."""
    draw.room -= 1
    if spare < 3 or draw.chance(0.35):
        return Around(preposition, name(draw, subject))
    return Around(preposition, nominal(draw, "person", "subject", min(spare - 1, 3)))


def goal(draw: Draw, verb: Verb, subject: NounPhrase | None, spare: int) -> Around:
    """The place or person that the verb cannot do without."""
    if verb.goal == "seat":
        return seat(draw, spare)
    if verb.goal == "receiver":
        return person(draw, "to", spare, subject)
    draw.room -= 1
    far = verb.goal == "country" or spare < 3 or draw.chance(0.4)
    if verb.goal == "arrival":
        if far:
            return Around("in", proper(draw, draw.pick(ABROAD), spare - 1))
        return Around("at", nominal(draw, "place", "place", min(spare - 1, 3)))
    if far:
        return Around("to", proper(draw, draw.pick(ABROAD), spare - 1))
    return Around("to", nominal(draw, "place", "place", min(spare - 1, 3)))


def time(draw: Draw, tense: Tense) -> Around | Moment:
    """When, fitting the tense, in one or two words."""
    lemma = draw.pick(TIMES[tense])
    if lemma == "month":
        draw.room -= 1
        return Around("in", proper(draw, "month"))
    draw.room -= 2 if lemma == "every day" else 1
    return Moment(lemma)
