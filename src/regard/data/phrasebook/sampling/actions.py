"""Random verb phrases: tense, negation, objects, relative clauses and modifiers. `limit` bounds the words."""

from dataclasses import replace
from typing import Final

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import Tense, Verb, english
from regard.data.phrasebook.sampling import nouns
from regard.data.phrasebook.sampling.draw import LONGEST_PHRASE, Draw

COSTS: Final[dict[Tense, int]] = {"present": 0, "past": 0, "going": 3, "want": 2, "can": 1, "command": 0}
"""Words that a tense adds to the verb."""
SIMPLE_TENSES: Final[tuple[Tense, ...]] = ("present", "present", "present", "past", "past", "past")
TENSES: Final[tuple[Tense, ...]] = (*SIMPLE_TENSES, "going", "want", "can")
SUBJECTS: Final = ("i", "i", "you", "you", "you", "he", "he", "she", "she", "they")


def doer_of(subject: tree.NounPhrase | None) -> str:
    """The kind of subject, which decides the verbs it can have."""
    if subject is None:
        return "command"
    while isinstance(subject, tree.Coordination):
        subject = subject.first
    return subject.kind if isinstance(subject, tree.Nominal) else "person"


def pick_tense(draw: Draw, limit: int) -> Tense:
    """A tense that leaves at least two of `limit` words for verb and object."""
    chosen = draw.pick(TENSES)
    return chosen if COSTS[chosen] + 2 <= limit else draw.pick(SIMPLE_TENSES)


def action(
    draw: Draw,
    subject: tree.NounPhrase | None,
    tense: Tense,
    limit: int,
    in_relative: bool = False,
    previous: tuple[tree.VerbPhrase, ...] = (),
) -> tree.VerbPhrase:
    """A verb phrase for the subject, whose other verb phrases are `previous`.

    With `in_relative` it is part of a relative clause, and its object gets no relative clause itself.
    """
    doer = doer_of(subject)
    if doer not in ("person", "animal", "command"):
        return quality(draw, subject, tense, limit)
    plain = tense in ("present", "past") and limit >= 2 and not any(other.adjective for other in previous)
    if plain and subject is not None and draw.chance(0.12) and not _has_two_adjectives(subject):
        return quality(draw, subject, tense, limit)
    end = draw.budget - limit
    draw.budget -= COSTS[tense]
    negated = draw.budget - end >= 4 and draw.chance(0.2)
    if negated and tense != "can":
        draw.budget -= 1 if tense == "going" else 2
    verb = _verb(draw, doer, tense, draw.budget - end, previous)
    adverb = None
    seated = verb.goal == "seat"
    room = verb.shortest_phrase < draw.budget - end
    if tense == "present" and not negated and not seated and room and draw.chance(0.2):
        adverb = draw.pick(("often", "always")) if verb.lemma != "love" else "always"
        draw.budget -= 1
    draw.budget -= len(verb.lemma.split())
    target = destination = None
    kept = 2 if verb.goal == "receiver" else 0
    if verb.objects:
        target = nouns.direct_object(draw, verb, tense, subject, draw.budget - end - kept)
        if not kept and not in_relative and not negated:
            target = with_relative(draw, target, draw.budget - end)
    if verb.goal:
        destination = nouns.goal(draw, verb, subject, draw.budget - end)
    modifiers: tuple[tree.Modifier, ...] = ()
    if not (isinstance(target, tree.Nominal) and target.relative):
        timeless = adverb is not None or (seated and tense == "present")
        modifiers = _modifiers(draw, verb, subject, None if timeless else tense, draw.budget - end)
    return tree.VerbPhrase(verb, tense, negated, adverb, target, destination, None, modifiers)


def _verb(draw: Draw, doer: str, tense: Tense, limit: int, previous: tuple[tree.VerbPhrase, ...]) -> Verb:
    """A verb that fits; a repeated one only if four draws in a row find no other."""
    able = draw.stock.verbs[doer, min(limit, LONGEST_PHRASE)]
    if tense not in ("present", "past"):
        able = tuple(verb for verb in able if not verb.simple_tenses_only)
    verb = draw.pick(able)
    for _ in range(3):
        if all(verb is not other.verb for other in previous):
            break
        verb = draw.pick(able)
    return verb


def _has_two_adjectives(phrase: tree.NounPhrase) -> bool:
    return isinstance(phrase, tree.Nominal) and phrase.before is not None and phrase.after is not None


def quality(draw: Draw, subject: tree.NounPhrase | None, tense: Tense, limit: int) -> tree.VerbPhrase:
    """`is [not] happy`: `be` with an adjective that suits the subject and does not contradict one it has."""
    negated = limit >= 3 and draw.chance(0.2)
    draw.budget -= 2 + negated
    adjectives = english().after["person"]
    if isinstance(subject, tree.Nominal):
        before = () if subject.before else draw.stock.before[subject.noun]
        after = () if subject.after else draw.stock.after[subject.noun]
        adjectives = tuple(adjective for adjective in before + after if adjective != "new")
    return tree.VerbPhrase(
        english().be, "past" if tense == "past" else "present", negated, adjective=draw.pick(adjectives)
    )


def _modifiers(
    draw: Draw, verb: Verb, subject: tree.NounPhrase | None, tense: Tense | None, limit: int
) -> tuple[tree.Modifier, ...]:
    """Company, place and time, in this order, while words are left; no time without a tense."""
    end = draw.budget - limit
    modifiers: list[tree.Modifier] = []
    if verb.company and limit >= 2 and draw.chance(0.3):
        modifiers.append(nouns.person(draw, "with", limit, subject))
    limit = draw.budget - end
    if verb.place and limit >= 2 and draw.chance(0.4):
        lying = verb.lemma == "sleep" and limit >= 3 and draw.chance(0.5)
        modifiers.append((nouns.seat if lying else nouns.place)(draw, limit))
    if tense is not None and draw.budget - end >= 2 and draw.chance(0.4):
        modifiers.append(nouns.time(draw, tense))
    return tuple(modifiers)


def with_relative(draw: Draw, phrase: tree.NounPhrase, limit: int) -> tree.NounPhrase:
    """The noun phrase, often with a relative clause if it fits into `limit` words."""
    if not isinstance(phrase, tree.Nominal) or phrase.determiner != "the" or limit < 4:
        return phrase
    if _has_two_adjectives(phrase) or not draw.chance(0.45):
        return phrase
    draw.budget -= 1
    return replace(phrase, relative=_relative(draw, phrase, limit - 1))


def _relative(draw: Draw, head: tree.Nominal, limit: int) -> tree.RelativeClause:
    tense = draw.pick(SIMPLE_TENSES)
    takers = draw.stock.takers[head.kind]
    living = head.kind in ("person", "animal")
    if takers and draw.chance(0.4 if living else 0.7):
        return _object_relative(draw, draw.pick(takers), limit)
    if living and draw.chance(0.7):
        return tree.RelativeClause(action(draw, head, tense, limit, in_relative=True))
    return tree.RelativeClause(quality(draw, head, tense, limit))


def _object_relative(draw: Draw, verb: Verb, limit: int) -> tree.RelativeClause:
    """`that jane sees`, in the present, where no French participle has to agree with the object."""
    subject: tree.NounPhrase
    draw.budget -= 1
    if limit >= 3 and draw.chance(0.35):
        subject = nouns.nominal(draw, "person", "subject", 2)
    elif draw.chance(0.5):
        subject = nouns.name(draw)
    else:
        subject = tree.Pronoun(draw.pick(SUBJECTS))
        draw.budget -= 1
    return tree.RelativeClause(tree.VerbPhrase(verb), subject)
