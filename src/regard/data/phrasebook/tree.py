"""What a sentence says before any language says it: one frozen node for each phrase.

Nodes compare by identity, so the two `the` of one sentence stay apart: a word is known as (node, role),
and a French or Hindi word links to the English word that speaks for the same (node, role).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from regard.data.phrasebook.lexicon.english import Kind, Verb

Determiner = Literal["the", "a", "my", "your", "this", "two", "three", "many", "none"]
Tense = Literal["present", "past", "going", "want", "can", "command"]
Node: TypeAlias = "NounPhrase | VerbPhrase | Relative | Around | Moment | Clause | Report"
Key = tuple[Node, str]
"""(node, role): one English word of the sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Nominal:
    """A determiner, up to two adjectives, a noun, perhaps a relative clause: `the small black cat that sleeps`."""

    noun: str
    kind: Kind
    determiner: Determiner
    plural: bool = False
    before: str | None = None
    after: str | None = None
    relative: "Relative | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A person by name."""

    lemma: str


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """`i you he she they` as subjects, `me you him her them` as objects."""

    lemma: str


@dataclass(frozen=True, slots=True, eq=False)
class Proper:
    """A country, a city or a month."""

    lemma: str
    kind: Literal["country", "city", "month"]


@dataclass(frozen=True, slots=True, eq=False)
class Couple:
    """`jane and michael`."""

    first: "Name | Nominal"
    second: "Name | Nominal"


NounPhrase: TypeAlias = Nominal | Name | Pronoun | Proper | Couple


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """A preposition and what follows it: `on the mat`, `in april`, `to japan`."""

    preposition: str
    phrase: NounPhrase


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """`yesterday`, `tomorrow`, `now`, `every day`."""

    lemma: str


@dataclass(frozen=True, slots=True, eq=False)
class VerbPhrase:
    """A verb and what it takes; `goal` is the place or person it cannot do without; `adjective` follows `be`."""

    verb: Verb
    tense: Tense = "present"
    negated: bool = False
    adverb: str | None = None
    object: NounPhrase | None = None
    goal: Around | None = None
    adjective: str | None = None
    around: tuple[Around | Moment, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """`who sleeps` (no subject of its own) or `that jane sees` (no object of its own)."""

    action: VerbPhrase
    subject: NounPhrase | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """One subject (none in a command) and what it does, joined by commas and a last `and` or `but`."""

    subject: NounPhrase | None
    actions: tuple[VerbPhrase, ...]
    last: str = "and"


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """`jane says that`, before the rest of the sentence."""

    subject: NounPhrase
    action: VerbPhrase


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """Reports, then clauses with a connector before each but the first."""

    clauses: tuple[Clause, ...]
    connectors: tuple[str, ...] = ()
    reports: tuple[Report, ...] = ()

    def parts(self) -> Iterator[tuple[str | None, Clause]]:
        """Each clause with the connector that stands before it."""
        return zip((None, *self.connectors), self.clauses, strict=True)


PERSONS: dict[str, tuple[int, bool, bool]] = {
    "i": (1, False, False),
    "you": (2, False, False),
    "he": (3, False, False),
    "she": (3, False, True),
    "they": (3, True, False),
}
"""Person, plural, feminine of the subject pronouns; `i` and `you` are a man's words, `they` are men or mixed."""
