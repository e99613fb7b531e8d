"""Random verb phrases: tense, negation, objects, relative clauses, and what stands around them."""

from typing import Final

from regard.data.phrasebook.lexicon.english import AFTER, BE, UNSAID, Verb
from regard.data.phrasebook.sampling import nouns
from regard.data.phrasebook.sampling.draw import Draw
from regard.data.phrasebook.tree import (
    Around,
    Couple,
    Moment,
    Nominal,
    NounPhrase,
    Pronoun,
    Relative,
    Tense,
    VerbPhrase,
)

COSTS: Final[dict[Tense, int]] = {"present": 0, "past": 0, "going": 3, "want": 2, "can": 1, "command": 0}
TENSES: Final[tuple[Tense, ...]] = ("present", "present", "present", "past", "past", "past", "going", "want", "can")
SUBJECTS: Final = ("i", "i", "you", "you", "you", "he", "he", "she", "she", "they")
PERSONAL: Final = AFTER["person"]


def doer_of(subject: NounPhrase | None) -> str:
    """Who acts, as far as verbs care."""
    if subject is None:
        return "command"
    while isinstance(subject, Couple):
        subject = subject.first
    return subject.kind if isinstance(subject, Nominal) else "person"


def tense(draw: Draw, spare: int) -> Tense:
    """A tense that leaves at least two of the `spare` words for verb and object."""
    chosen = draw.pick(TENSES)
    return chosen if COSTS[chosen] + 2 <= spare else draw.pick(TENSES[:6])


def action(
    draw: Draw,
    subject: NounPhrase | None,
    when: Tense,
    spare: int,
    linked: bool = False,
    told: tuple[VerbPhrase, ...] = (),
) -> VerbPhrase:
    """A verb phrase in at most `spare` words, for somebody or something of whom `told` is known already.

    A `linked` one belongs to a relative clause and has none itself.
    """
    doer = doer_of(subject)
    if doer not in ("person", "animal", "command"):
        return quality(draw, subject, when, spare)
    plain = when in ("present", "past") and spare >= 2 and not any(other.adjective for other in told)
    if plain and subject is not None and draw.chance(0.12) and not _full(subject):
        return quality(draw, subject, when, spare)
    end = draw.room - spare
    draw.room -= COSTS[when]
    negated = draw.room - end >= 4 and draw.chance(0.2)
    if negated and when != "can":
        draw.room -= 1 if when == "going" else 2
    verb = _verb(draw, doer, when, draw.room - end, told)
    adverb = None
    seated = verb.goal == "seat"
    if when == "present" and not negated and not seated and verb.words() < draw.room - end and draw.chance(0.2):
        adverb = draw.pick(("often", "always")) if verb.base != "love" else "always"
        draw.room -= 1
    draw.room -= 1 + (verb.particle is not None)
    target = destination = None
    kept = 2 if verb.goal == "receiver" else 0
    if verb.objects:
        target = nouns.direct_object(draw, verb, when, subject, draw.room - end - kept)
        if not kept and not linked and not negated:
            target = related(draw, target, draw.room - end)
    if verb.goal:
        destination = nouns.goal(draw, verb, subject, draw.room - end)
    around: tuple[Around | Moment, ...] = ()
    if not (isinstance(target, Nominal) and target.relative):
        timeless = adverb is not None or (seated and when == "present")
        around = _surroundings(draw, verb, subject, None if timeless else when, draw.room - end)
    return VerbPhrase(verb, when, negated, adverb, target, destination, None, around)


def _verb(draw: Draw, doer: str, when: Tense, spare: int, told: tuple[VerbPhrase, ...]) -> Verb:
    """A verb that fits; one that was used already only if three draws in a row find no other."""
    able = draw.stock.doing(doer, spare)
    if when not in ("present", "past"):
        able = tuple(verb for verb in able if not verb.simple)
    verb = draw.pick(able)
    for _ in range(3):
        if all(verb is not other.verb for other in told):
            break
        verb = draw.pick(able)
    return verb


def _full(subject: NounPhrase) -> bool:
    """Whether a noun already bears an adjective on each side."""
    return isinstance(subject, Nominal) and subject.before is not None and subject.after is not None


def quality(draw: Draw, subject: NounPhrase | None, when: Tense, spare: int) -> VerbPhrase:
    """`is [not] happy`: `be` with an adjective that suits the subject and does not quarrel with one it bears."""
    negated = spare >= 3 and draw.chance(0.2)
    draw.room -= 2 + negated
    adjectives = PERSONAL
    if isinstance(subject, Nominal):
        before = () if subject.before else draw.stock.before[subject.noun]
        after = () if subject.after else draw.stock.after[subject.noun]
        adjectives = tuple(adjective for adjective in before + after if adjective not in UNSAID)
    return VerbPhrase(BE, "past" if when == "past" else "present", negated, adjective=draw.pick(adjectives))


def _surroundings(
    draw: Draw, verb: Verb, subject: NounPhrase | None, when: Tense | None, spare: int
) -> tuple[Around | Moment, ...]:
    """Company, place and time, one after the other while words are left."""
    end = draw.room - spare
    around: list[Around | Moment] = []
    if verb.company and spare >= 2 and draw.chance(0.3):
        around.append(nouns.person(draw, "with", spare, subject))
    spare = draw.room - end
    if verb.place and spare >= 2 and draw.chance(0.4):
        lying = verb.base == "sleep" and spare >= 3 and draw.chance(0.5)
        around.append((nouns.seat if lying else nouns.place)(draw, spare))
    spare = draw.room - end
    if when is not None and spare >= 2 and draw.chance(0.4):
        around.append(nouns.time(draw, when))
    return tuple(around)


def related(draw: Draw, phrase: NounPhrase, spare: int) -> NounPhrase:
    """The noun phrase, often with a relative clause where `spare` words allow one."""
    if not isinstance(phrase, Nominal) or phrase.determiner != "the" or spare < 4:
        return phrase
    if _full(phrase) or not draw.chance(0.45):
        return phrase
    draw.room -= 1
    return Nominal(
        phrase.noun,
        phrase.kind,
        phrase.determiner,
        phrase.plural,
        phrase.before,
        phrase.after,
        _relative(draw, phrase, spare - 1),
    )


def _relative(draw: Draw, head: Nominal, spare: int) -> Relative:
    when = draw.pick(TENSES[:6])
    takers = draw.stock.takers[head.kind]
    living = head.kind in ("person", "animal")
    if takers and draw.chance(0.4 if living else 0.7):
        return _object_relative(draw, draw.pick(takers), spare)
    if living and draw.chance(0.7):
        return Relative(action(draw, head, when, spare, linked=True))
    return Relative(quality(draw, head, when, spare))


def _object_relative(draw: Draw, verb: Verb, spare: int) -> Relative:
    """`that jane sees`, in the present: no French participle has to agree with what is seen."""
    subject: NounPhrase
    if spare >= 3 and draw.chance(0.35):
        subject = nouns.nominal(draw, "person", "subject", 2)
    elif draw.chance(0.5):
        subject = nouns.name(draw)
    else:
        subject = Pronoun(draw.pick(SUBJECTS))
        draw.room -= 1
    draw.room -= 1
    return Relative(VerbPhrase(verb), subject)
