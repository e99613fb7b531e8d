"""Random sentences of a wanted length: reports, clauses, lists of actions."""

from typing import Final

from regard.data.phrasebook.lexicon.english import NOUNS, SAY, Kind
from regard.data.phrasebook.sampling import nouns
from regard.data.phrasebook.sampling.actions import SUBJECTS, action, doer_of, related, tense
from regard.data.phrasebook.sampling.draw import Draw
from regard.data.phrasebook.tree import Clause, Couple, Nominal, NounPhrase, Pronoun, Report, Sentence, VerbPhrase

CONNECTORS: Final = ("and", "but", "because")
THINGS: Final = tuple(kind for kind in NOUNS if kind not in ("person", "animal"))
SHORTEST_CLAUSE: Final = 3
SHORTEST_ACTION: Final = 3


def sentence(draw: Draw, length: int) -> Sentence:
    """A sentence of at most `length` English words (3 or more), and nearly that many."""
    draw.room = length
    reports: list[Report] = []
    while draw.room >= 8 and draw.chance(0.1):
        reports.append(_report(draw))
    if not reports and length <= 16 and draw.chance(0.14):
        return Sentence((_command(draw),))
    clauses = [_clause(draw)]
    connectors = []
    while draw.room > SHORTEST_CLAUSE + 1:
        connectors.append(draw.pick(CONNECTORS))
        draw.room -= 1
        clauses.append(_clause(draw))
    return Sentence(tuple(clauses), tuple(connectors), tuple(reports))


def _report(draw: Draw) -> Report:
    """`jane says that`: three words, four with a noun."""
    subject: NounPhrase
    if draw.chance(0.4):
        subject = Pronoun(draw.pick(SUBJECTS))
        draw.room -= 1
    elif draw.chance(0.6):
        subject = nouns.name(draw)
    else:
        subject = nouns.nominal(draw, "person", "subject", 2)
    draw.room -= 2
    return Report(subject, VerbPhrase(SAY, draw.pick(("present", "past"))))


def _share(draw: Draw) -> int:
    """How many of the words that are left one clause gets."""
    if draw.room <= 9 or (draw.room <= 20 and draw.chance(0.4)):
        return draw.room
    return draw.between(9 if draw.room > 22 else 5, min(draw.room - SHORTEST_CLAUSE - 1, 24))


def _clause(draw: Draw) -> Clause:
    share = _share(draw)
    rest = draw.room - share
    draw.room = share
    subject = _subject(draw)
    actions, last = _actions(draw, subject)
    draw.room += rest
    return Clause(subject, actions, last)


def _command(draw: Draw) -> Clause:
    actions, last = _actions(draw, None)
    return Clause(None, actions, last)


def _actions(draw: Draw, subject: NounPhrase | None) -> tuple[tuple[VerbPhrase, ...], str]:
    """What the subject does; a list keeps one tense, and `but` turns the last of two around."""
    spare = draw.room
    if spare > 7 and draw.chance(0.6):
        spare = draw.between(3, min(7, spare - SHORTEST_ACTION - 1))
    when = "command" if subject is None else tense(draw, spare)
    actions = [action(draw, subject, when, spare)]
    listed = when in ("present", "past", "command") and doer_of(subject) in ("person", "animal", "command")
    while listed and draw.room > SHORTEST_ACTION and len(actions) < 6 and draw.chance(0.75):
        if isinstance(actions[-1].object, Nominal) and actions[-1].object.relative:
            break  # another action would seem to belong to the relative clause
        draw.room -= 1
        spare = draw.room if draw.room <= 7 else draw.between(3, 7)
        actions.append(action(draw, subject, when, spare, told=tuple(actions)))
    last = "and"
    if len(actions) == 2 and actions[0].negated != actions[1].negated:
        last = "but"
    return tuple(actions), last


def _subject(draw: Draw) -> NounPhrase:
    """Who or what the clause is about, leaving at least two words for what it does (one after a short noun)."""
    room = draw.room
    lot = draw.random()
    if lot < 0.3:
        draw.room -= 1
        return Pronoun(draw.pick(SUBJECTS))
    if lot < 0.52:
        return nouns.name(draw)
    if lot < 0.6 and room >= 5:
        return _couple(draw)
    if lot < 0.68 and room >= 4:
        return nouns.nominal(draw, draw.pick(THINGS), "definite", min(room - 2, 3))
    kind: Kind = "animal" if lot > 0.85 else "person"
    living = nouns.nominal(draw, kind, "subject", min(max(room - 2, 2), 4))
    return related(draw, living, draw.room - 3)


def _couple(draw: Draw) -> Couple:
    draw.room -= 1
    first = nouns.name(draw)
    if draw.room >= 5 and draw.chance(0.5):
        return Couple(first, nouns.nominal(draw, "person", "definite", 2))
    return Couple(first, nouns.name(draw, first))
