"""The vocabulary of a language pair, random choices from it, and the word budget of a sentence."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from regard.data.phrasebook.lexicon import French, Hindi, Kind, Verb, english

LONGEST_PHRASE: Final = 8
"""Every verb fits into a phrase of so many words."""
WEIGHTS: Final = {"receiver": 2, "arrival": 2, "destination": 2}
"""Verbs with these goals need many words and fit into few sentences; they are drawn more often where they fit."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Stock:
    """The English lexicon without what the other language has no words for.

    Adjectives are listed by noun; `verbs` by who acts (`person`, `animal` or `command`) and the number of words they
    may take; `takers` are the verbs of relative clauses such as `that jane sees`, by kind of noun.
    """

    nouns: dict[Kind, tuple[str, ...]]
    before: dict[str, tuple[str, ...]]
    after: dict[str, tuple[str, ...]]
    verbs: dict[tuple[str, int], tuple[Verb, ...]]
    takers: dict[Kind, tuple[Verb, ...]]
    singular_only: Collection[str]
    """Nouns without a plural here."""
    ambiguous: Collection[str]
    """Verbs whose French object pronoun hides whether it is `him` or `her`."""


def build_stock(
    words: French | Hindi,
    singular_only: Collection[str],
    ambiguous: Collection[str] = (),
    no_command: Collection[str] = (),
    no_relative: Collection[str] = (),
) -> Stock:
    """The part of the English lexicon that the other language's lexicon can translate."""
    source = english()
    nouns = {kind: tuple(noun for noun in lemmas if noun in words.nouns) for kind, lemmas in source.nouns.items()}
    known = [verb for verb in source.verbs if verb.goal == "seat" or verb.lemma in words.verbs]
    doers = {
        "person": known,
        "animal": [verb for verb in known if verb.animals],
        "command": [verb for verb in known if verb.command and verb.lemma not in no_command],
    }
    linking = [verb for verb in known if not verb.particle and not verb.goal and verb.lemma not in no_relative]
    kinds = {noun: kind for kind, lemmas in nouns.items() for noun in lemmas}

    def translated(adjectives: Sequence[str]) -> tuple[str, ...]:
        return tuple(adjective for adjective in adjectives if adjective in words.adjectives)

    return Stock(
        nouns=nouns,
        before={noun: translated(source.before_noun.get(noun, source.before[kind])) for noun, kind in kinds.items()},
        after={noun: translated(source.after[kind]) for noun, kind in kinds.items()},
        verbs={
            (doer, count): tuple(
                verb for verb in able for _ in range(WEIGHTS.get(verb.goal or "", 1)) if verb.shortest_phrase <= count
            )
            for doer, able in doers.items()
            for count in range(1, LONGEST_PHRASE + 1)
        },
        takers={kind: tuple(verb for verb in linking if kind in verb.objects) for kind in nouns},
        singular_only=singular_only,
        ambiguous=ambiguous,
    )


class Draw:
    """Random choices from a stock; `budget` counts the words that are left for the current sentence.

    Every choice uses `random.random`, which gives the same numbers on every machine and Python version.
    """

    def __init__(self, seed: str, stock: Stock) -> None:
        self.random = random.Random(seed).random
        self.stock = stock
        self.budget = 0

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def between(self, lowest: int, highest: int) -> int:
        """A whole number from lowest to highest, both included."""
        return lowest + int(self.random() * (highest - lowest + 1))
