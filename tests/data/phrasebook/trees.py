"""Short names to build trees with, and gold links as people write them: `0-0 1-2`, possible ones as `3?1`."""

from typing import Any

from regard.data.pair import Pair
from regard.data.phrasebook.corpus import language, translate
from regard.data.phrasebook.lexicon import english
from regard.data.phrasebook.tree import (
    Clause,
    Name,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    ProperNoun,
    Sentence,
    VerbPhrase,
)

VERB = {verb.lemma: verb for verb in (*english().verbs, english().be, english().say)}
KIND = {noun: kind for kind, nouns in english().nouns.items() for noun in nouns}


def noun(lemma: str, determiner: Any = "the", **others: Any) -> Nominal:
    return Nominal(lemma, KIND[lemma], determiner, **others)


def nouns(lemma: str, determiner: Any = "the", **others: Any) -> Nominal:
    return noun(lemma, determiner, plural=True, **others)


def act(verb: str, tense: Any = "present", target: NounPhrase | None = None, **others: Any) -> VerbPhrase:
    return VerbPhrase(VERB[verb], tense, object=target, **others)


def be(adjective: str, tense: Any = "present", **others: Any) -> VerbPhrase:
    return VerbPhrase(english().be, tense, adjective=adjective, **others)


def country(lemma: str) -> ProperNoun:
    return ProperNoun(lemma, "country")


def phrase(preposition: str, noun_phrase: NounPhrase) -> PrepositionalPhrase:
    return PrepositionalPhrase(preposition, noun_phrase)


def month(lemma: str) -> PrepositionalPhrase:
    return PrepositionalPhrase("in", ProperNoun(lemma, "month"))


def say(subject: NounPhrase | str | None, *actions: VerbPhrase, last: str = "and") -> Sentence:
    if isinstance(subject, str):
        subject = Pronoun(subject) if subject in ("i", "you", "he", "she", "they") else Name(subject)
    return Sentence((Clause(subject, actions, last),))


def join(first: Sentence, connector: str, second: Sentence) -> Sentence:
    return Sentence(first.clauses + second.clauses, (*first.connectors, connector, *second.connectors))


def report(name: str, tense: Any, rest: Sentence) -> Sentence:
    return join(say(name, act("say", tense)), "that", rest)


def said(pair: str, tree: Sentence) -> Pair:
    return translate(language(pair), tree)


def gold(pair: Pair) -> str:
    """The links in order of the target."""
    assert pair.links is not None
    links = sorted(pair.links.possible, key=lambda link: (link[1], link[0]))
    return " ".join(
        f"{source}{'-' if (source, target) in pair.links.sure else '?'}{target}" for source, target in links
    )
