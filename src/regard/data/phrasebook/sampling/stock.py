"""What a pair of languages can speak of: the English lexicon, less what the other language has no words for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from regard.data.phrasebook.lexicon.english import AFTER, NOUNS, VERBS, Kind, Verb, before

WEIGHTS: Final[dict[str | None, int]] = {"receiver": 2, "arrival": 2, "destination": 2}
"""Verbs of many words fit into few sentences; these are drawn more often where they fit."""

Doer = str
"""`person`, `animal` or `command`: who may do what a verb says."""


@dataclass(frozen=True)
class Stock:
    """Adjectives go by noun; `singular` nouns have no plural here; `blurred` verbs hide whether it is him or her."""

    nouns: dict[Kind, tuple[str, ...]]
    before: dict[str, tuple[str, ...]]
    after: dict[str, tuple[str, ...]]
    verbs: dict[tuple[Doer, int], tuple[Verb, ...]]
    takers: dict[Kind, tuple[Verb, ...]]
    singular: frozenset[str] = frozenset()
    blurred: frozenset[str] = frozenset()
    largest: int = field(default=8)

    def doing(self, doer: Doer, words: int) -> tuple[Verb, ...]:
        """The verbs for `doer` whose phrase fits into so many words."""
        return self.verbs[doer, min(words, self.largest)]


def build_stock(
    noun: Callable[[str], bool],
    adjective: Callable[[str, Kind], bool],
    verb: Callable[[Verb], bool],
    command: Callable[[Verb], bool],
    relative: Callable[[Verb], bool],
    singular: frozenset[str],
    blurred: frozenset[str] = frozenset(),
) -> Stock:
    """The stock that five questions leave: is this noun, adjective, verb known, as a command, after `that jane`?"""
    nouns = {kind: tuple(filter(noun, lemmas)) for kind, lemmas in NOUNS.items()}
    known = tuple(each for each in VERBS if verb(each))
    linking = tuple(each for each in known if each.goal != "seat" and relative(each))
    doers: dict[Doer, tuple[Verb, ...]] = {
        "person": known,
        "animal": tuple(each for each in known if each.animals),
        "command": tuple(each for each in known if each.command and command(each)),
    }
    verbs = {
        (doer, words): tuple(each for each in able for _ in range(WEIGHTS.get(each.goal, 1)) if each.words() <= words)
        for doer, able in doers.items()
        for words in range(1, 9)
    }
    takers = {
        kind: tuple(each for each in linking if kind in each.objects and not each.particle and not each.goal)
        for kind in NOUNS
    }
    return Stock(
        nouns=nouns,
        before={
            lemma: tuple(each for each in before(lemma, kind) if adjective(each, kind))
            for kind, lemmas in nouns.items()
            for lemma in lemmas
        },
        after={
            lemma: tuple(each for each in AFTER[kind] if adjective(each, kind))
            for kind, lemmas in nouns.items()
            for lemma in lemmas
        },
        verbs=verbs,
        takers=takers,
        singular=singular,
        blurred=blurred,
    )
