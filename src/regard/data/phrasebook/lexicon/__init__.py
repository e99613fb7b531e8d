"""The words of the phrasebook: one TOML file for each language, read when it is first needed."""

import tomllib
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Literal, NamedTuple, TypeVar

from pydantic import TypeAdapter

Kind = Literal[
    "person", "animal", "thing", "surface", "opening", "device", "dish", "food", "drink", "place", "area", "story"
]
"""The meaning of a noun."""
Gender = Literal["m", "f"]
Goal = Literal["seat", "receiver", "destination", "arrival", "country"]
Determiner = Literal["the", "a", "my", "your", "this", "two", "three", "many", "none"]
Tense = Literal["present", "past", "going", "want", "can", "command"]
Use = Literal["subject", "object", "definite", "place"]
MISSING = "-"
"""A form that a language lacks: no sentence with it is generated."""
MASS_KINDS = ("food", "drink")
"""Kinds without a plural and without `a`."""


@dataclass(frozen=True)
class Verb:
    """An English verb: its forms and what it allows; `animals`: whether they can be its subject."""

    lemma: str
    singular: str
    past: str
    objects: tuple[str, ...] = ()
    goal: Goal | None = None
    pronouns: bool = False
    definite: bool = False
    animals: bool = False
    command: bool = False
    place: bool = False
    company: bool = False

    @cached_property
    def base(self) -> str:
        return self.lemma.partition(" ")[0]

    @cached_property
    def particle(self) -> str:
        return self.lemma.partition(" ")[2]

    @cached_property
    def simple_tenses_only(self) -> bool:
        """Verbs of position and emotion have no future with `going to` and no `want to`."""
        return self.goal == "seat" or self.lemma == "love"

    @cached_property
    def shortest_phrase(self) -> int:
        """Smallest number of words of a phrase with this verb."""
        if self.goal:
            return {"seat": 4, "receiver": 5}.get(self.goal, 3)
        verb = 2 if self.particle else 1
        if not self.objects:
            return verb
        one_word = self.pronouns or not {"name", "country", "city", *MASS_KINDS}.isdisjoint(self.objects)
        return verb + (1 if one_word else 2)


class Agreement(NamedTuple):
    """What verbs, participles and adjectives agree with."""

    person: int
    plural: bool
    feminine: bool


@dataclass(frozen=True)
class English:
    owned: frozenset[str]
    feminine_names: tuple[str, ...]
    masculine_names: tuple[str, ...]
    countries: tuple[str, ...]
    cities: tuple[str, ...]
    months: tuple[str, ...]
    verbs: tuple[Verb, ...]
    say: Verb
    be: Verb
    nouns: dict[Kind, tuple[str, ...]]
    plurals: dict[str, str]
    before: dict[Kind, tuple[str, ...]]
    before_noun: dict[str, tuple[str, ...]]
    after: dict[Kind, tuple[str, ...]]
    persons: dict[str, Agreement]
    singular: dict[Use, tuple[Determiner, ...]]
    plural: dict[Use, tuple[Determiner, ...]]
    times: dict[Tense, tuple[str, ...]]


class FrenchNoun(NamedTuple):
    singular: str
    plural: str
    gender: Gender


class FrenchAdjective(NamedTuple):
    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    before_vowel: str = ""
    """The masculine singular before a vowel, where it differs."""

    def form(self, feminine: bool, plural: bool, before_vowel: bool = False) -> str:
        if plural:
            return self.feminine_plural if feminine else self.masculine_plural
        if feminine:
            return self.feminine
        return self.before_vowel if before_vowel and self.before_vowel else self.masculine


class FrenchVerb(NamedTuple):
    """Begins with the present: verb[form] for je, tu, il, ils."""

    first: str
    second: str
    third: str
    third_plural: str
    infinitive: str
    participle: str


@dataclass(frozen=True)
class French:
    be_verbs: frozenset[str]
    nouns: dict[str, FrenchNoun]
    adjectives: dict[str, FrenchAdjective]
    verbs: dict[str, FrenchVerb]
    imperatives: dict[str, str]
    verb_prepositions: dict[str, str]
    auxiliaries: dict[str, tuple[str, str, str, str]]
    proper_nouns: dict[str, tuple[str, str]]
    subjects: dict[str, str]
    objects: dict[str, str]
    possessives: dict[str, tuple[str, str, str]]
    numbers: dict[str, str]
    prepositions: dict[str, str]
    times: dict[str, tuple[str, ...]]
    adverbs: dict[str, str]
    connectors: dict[str, str]


class HindiNoun(NamedTuple):
    direct: str
    direct_plural: str
    oblique: str
    oblique_plural: str
    gender: Gender

    def form(self, oblique: bool, plural: bool) -> str:
        return self[2 * oblique + plural]


class HindiAdjective(NamedTuple):
    masculine: str
    oblique: str = ""
    """Every other masculine form; empty, like the feminine, where there is one form for all."""
    feminine: str = ""

    def form(self, feminine: bool, oblique: bool) -> str:
        """`oblique`: plural, or before a postposition."""
        return (self.feminine if feminine else self.oblique if oblique else "") or self.masculine


class Conjugation(NamedTuple):
    """A form of two words (खोल देता) is never negated."""

    habitual: tuple[str, str, str]
    perfective: tuple[str, str, str, str]
    infinitive: str
    oblique: str
    stem: str
    imperative: str


class HindiVerb(NamedTuple):
    """The Hindi translation of an English verb; hindi.toml explains the fields."""

    verb: str
    case: str = "direct"
    companion: str = ""
    noun: bool = False
    feminine: bool = False
    ergative: bool = True


@dataclass(frozen=True)
class Hindi:
    nouns: dict[str, HindiNoun]
    adjectives: dict[str, HindiAdjective]
    conjugations: dict[str, Conjugation]
    verbs: dict[str, HindiVerb]
    subjects: dict[str, str]
    agents: dict[str, str]
    objects: dict[str, dict[str, str]]
    relatives: dict[str, tuple[str, str]]
    demonstratives: dict[str, tuple[str, str, str, str]]
    names: dict[str, str]
    postpositions: dict[str, tuple[str, ...]]
    times: dict[str, tuple[str, ...]]
    adverbs: dict[str, str]
    numbers: dict[str, str]
    connectors: dict[str, str]


Lexicon = TypeVar("Lexicon")


def _read(shape: type[Lexicon]) -> Lexicon:
    name = f"{shape.__name__.lower()}.toml"
    text = (files("regard") / "data" / "phrasebook" / "lexicon" / name).read_text(encoding="utf-8")
    return TypeAdapter(shape).validate_python(tomllib.loads(text))


english = cache(partial(_read, English))
french = cache(partial(_read, French))
hindi = cache(partial(_read, Hindi))
