"""Random sentences of a requested length: reports, clauses, lists of actions."""

from typing import Final

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import Kind, english
from regard.data.phrasebook.sampling import nouns
from regard.data.phrasebook.sampling.actions import SUBJECTS, action, doer_of, pick_tense, with_relative
from regard.data.phrasebook.sampling.draw import Draw

CONNECTORS: Final = ("and", "but", "because")
SHORTEST_CLAUSE: Final = 3
SHORTEST_ACTION: Final = 3


def sentence(draw: Draw, length: int) -> tree.Sentence:
    """A sentence of at most `length` English words (3 or more), and nearly that many."""
    draw.budget = length
    clauses: list[tree.Clause] = []
    while draw.budget >= 8 and draw.chance(0.1):
        clauses.append(_report(draw))
    if not clauses and length <= 16 and draw.chance(0.14):
        return tree.Sentence((tree.Clause(None, *_actions(draw, None)),))
    connectors = ["that"] * len(clauses)
    clauses.append(_clause(draw))
    while draw.budget > SHORTEST_CLAUSE + 1:
        connectors.append(draw.pick(CONNECTORS))
        draw.budget -= 1
        clauses.append(_clause(draw))
    return tree.Sentence(tuple(clauses), tuple(connectors))


def _report(draw: Draw) -> tree.Clause:
    """`jane says` before `that`: three words, four with a noun."""
    subject: tree.NounPhrase
    if draw.chance(0.4):
        subject = tree.Pronoun(draw.pick(SUBJECTS))
        draw.budget -= 1
    elif draw.chance(0.6):
        subject = nouns.name(draw)
    else:
        subject = nouns.nominal(draw, "person", "subject", 2)
    draw.budget -= 2
    return tree.Clause(subject, (tree.VerbPhrase(english().say, draw.pick(("present", "past"))),))


def _clause(draw: Draw) -> tree.Clause:
    share = _share(draw)
    rest = draw.budget - share
    draw.budget = share
    subject = _subject(draw)
    actions, last = _actions(draw, subject)
    draw.budget += rest
    return tree.Clause(subject, actions, last)


def _share(draw: Draw) -> int:
    """How many of the remaining words one clause gets."""
    if draw.budget <= 9 or (draw.budget <= 20 and draw.chance(0.4)):
        return draw.budget
    return draw.between(9 if draw.budget > 22 else 5, min(draw.budget - SHORTEST_CLAUSE - 1, 24))


def _actions(draw: Draw, subject: tree.NounPhrase | None) -> tuple[tuple[tree.VerbPhrase, ...], str]:
    """What the subject does, and the last conjunction: a list has one tense, `but` joins two of different polarity."""
    limit = draw.budget
    if limit > 7 and draw.chance(0.6):
        limit = draw.between(3, min(7, limit - SHORTEST_ACTION - 1))
    tense = "command" if subject is None else pick_tense(draw, limit)
    actions = [action(draw, subject, tense, limit)]
    listed = tense in ("present", "past", "command") and doer_of(subject) in ("person", "animal", "command")
    while listed and draw.budget > SHORTEST_ACTION and len(actions) < 6 and draw.chance(0.75):
        if isinstance(actions[-1].object, tree.Nominal) and actions[-1].object.relative:
            break  # another action would seem to belong to the relative clause
        draw.budget -= 1
        limit = draw.budget if draw.budget <= 7 else draw.between(3, 7)
        actions.append(action(draw, subject, tense, limit, previous=tuple(actions)))
    differ = len(actions) == 2 and actions[0].negated != actions[1].negated
    return tuple(actions), "but" if differ else "and"


def _subject(draw: Draw) -> tree.NounPhrase:
    """The subject of a clause, leaving at least two words for its action (one after a short noun)."""
    budget = draw.budget
    lot = draw.random()
    if lot < 0.3:
        draw.budget -= 1
        return tree.Pronoun(draw.pick(SUBJECTS))
    if lot < 0.52:
        return nouns.name(draw)
    if lot < 0.6 and budget >= 5:
        draw.budget -= 1
        first = nouns.name(draw)
        if draw.budget >= 5 and draw.chance(0.5):
            return tree.Coordination(first, nouns.nominal(draw, "person", "definite", 2))
        return tree.Coordination(first, nouns.name(draw, first))
    if lot < 0.68 and budget >= 4:
        things = [kind for kind in english().nouns if kind not in ("person", "animal")]
        return nouns.nominal(draw, draw.pick(things), "definite", min(budget - 2, 3))
    kind: Kind = "animal" if lot > 0.85 else "person"
    living = nouns.nominal(draw, kind, "subject", min(max(budget - 2, 2), 4))
    return with_relative(draw, living, draw.budget - 3)
