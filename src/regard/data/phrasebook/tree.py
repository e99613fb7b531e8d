"""Syntax trees that all languages of the phrasebook share: one frozen node for each phrase.

Nodes compare by identity, so that the two `the` of one sentence differ: a (node, role) identifies one English word, and
a French or Hindi word links to the English word of the same (node, role). A `Line` holds the words of one language.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from regard.data.phrasebook.lexicon import Agreement, Determiner, FrenchNoun, HindiNoun, Kind, Tense, Verb, english


@dataclass(frozen=True, slots=True, eq=False)
class Nominal:
    """A determiner, up to two adjectives, a noun, perhaps a relative clause: `the small black cat that sleeps`.

    `before` and `after` are the adjectives on either side of the French noun.
    """

    noun: str
    kind: Kind
    determiner: Determiner
    plural: bool = False
    before: str | None = None
    after: str | None = None
    relative: "RelativeClause | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A person by name."""

    lemma: str


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """`i you he she they` as subjects, `me you him her them` as objects."""

    lemma: str


@dataclass(frozen=True, slots=True, eq=False)
class ProperNoun:
    lemma: str
    kind: Literal["country", "city", "month"]


@dataclass(frozen=True, slots=True, eq=False)
class Coordination:
    """`jane and michael`."""

    first: Name | Nominal
    second: Name | Nominal


NounPhrase: TypeAlias = Nominal | Name | Pronoun | ProperNoun | Coordination


@dataclass(frozen=True, slots=True, eq=False)
class PrepositionalPhrase:
    """`on the mat`, `in april`, `to japan`."""

    preposition: str
    phrase: NounPhrase


@dataclass(frozen=True, slots=True, eq=False)
class TimeAdverb:
    """`yesterday`, `tomorrow`, `now`, `every day`."""

    lemma: str


Modifier: TypeAlias = PrepositionalPhrase | TimeAdverb


@dataclass(frozen=True, slots=True, eq=False)
class VerbPhrase:
    """A verb and its arguments; `goal` is the place or person that the verb needs; `adjective` follows `be`."""

    verb: Verb
    tense: Tense = "present"
    negated: bool = False
    adverb: str | None = None
    object: NounPhrase | None = None
    goal: PrepositionalPhrase | None = None
    adjective: str | None = None
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RelativeClause:
    """`who sleeps` (no subject of its own) or `that jane sees` (no object of its own)."""

    action: VerbPhrase
    subject: NounPhrase | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """One subject (none in a command) and what it does, joined by commas and a last `and` or `but`."""

    subject: NounPhrase | None
    actions: tuple[VerbPhrase, ...]
    last: str = "and"

    def joined_actions(self) -> Iterator[tuple[str | None, VerbPhrase]]:
        """Each action with the conjunction or comma before it."""
        joints = (None, *[","] * (len(self.actions) - 2), self.last)
        return zip(joints, self.actions, strict=False)


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """Clauses with a connector before each but the first; `that` introduces reported speech."""

    clauses: tuple[Clause, ...]
    connectors: tuple[str, ...] = ()

    def joined_clauses(self) -> Iterator[tuple[str | None, Clause]]:
        """Each clause with the connector before it."""
        return zip((None, *self.connectors), self.clauses, strict=True)


def agreement(phrase: NounPhrase, nouns: Mapping[str, FrenchNoun | HindiNoun] = MappingProxyType({})) -> Agreement:
    """Person, number and gender of a phrase; the gender of a noun is that of `nouns`, where the language has one."""
    if isinstance(phrase, Pronoun):
        return english().persons[phrase.lemma]
    if isinstance(phrase, Nominal):
        return Agreement(3, phrase.plural, phrase.noun in nouns and nouns[phrase.noun].gender == "f")
    if isinstance(phrase, Coordination):
        return Agreement(3, True, all(agreement(one, nouns).feminine for one in (phrase.first, phrase.second)))
    return Agreement(3, False, phrase.lemma in english().feminine_names)


Node: TypeAlias = NounPhrase | VerbPhrase | RelativeClause | Modifier | Clause
Key = tuple[Node, str]
"""(node, role): one English word of the sentence."""


class Line:
    """Words, each with its keys: (node, role) of the tree.

    The first key of a French or Hindi word is the English word that it translates (a sure link), the others are those
    that it depends on (possible links). For an English word the order does not matter: all keys stand for it.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.keys: list[tuple[Key | None, tuple[Key, ...]]] = []

    def add(self, word: str, sure: Key | None, *possible: Key) -> None:
        self.words.append(word)
        self.keys.append((sure, possible))

    def add_time(self, words: Sequence[str], adverb: TimeAdverb) -> None:
        """`tomorrow`, or the two words of `every day`."""
        for word, role in zip(words, ("every", "time")[-len(words) :], strict=True):
            self.add(word, (adverb, role))
