"""Renders Hindi noun phrases: case and number of the noun, and of everything that agrees with it."""

from typing import Final, NamedTuple

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import HindiAdjective
from regard.data.phrasebook.lexicon import hindi as lexicon
from regard.data.phrasebook.tree import Line


class HindiAgreement(NamedTuple):
    """What a verb agrees with; `heads` is the English word of a subject, which हूँ, हो and है depend on."""

    person: int
    plural: bool
    feminine: bool
    heads: tuple[tree.Key, ...] = ()

    @property
    def owner(self) -> str | None:
        """The determiner of what belongs to this subject."""
        return {1: "my", 2: "your"}.get(self.person)

    @property
    def copula(self) -> str:
        return {1: "हूँ", 2: "हो"}.get(self.person) or ("हैं" if self.plural else "है")

    @property
    def was(self) -> str:
        return "थीं" if self.feminine and self.plural else lexicon().adjectives["was"].form(self.feminine, self.plural)

    def choose(self, forms: tuple[str, ...]) -> str:
        """One of masculine, masculine plural, feminine and, where there is one, feminine plural."""
        if self.feminine:
            return forms[-1] if self.plural else forms[2]
        return forms[1] if self.plural else forms[0]


HEARER: Final = HindiAgreement(2, True, False)
"""तुम is one person with a plural verb."""


def agreement(phrase: tree.NounPhrase) -> HindiAgreement:
    """Person, number and gender of a subject or object."""
    person, plural, feminine = tree.agreement(phrase, lexicon().nouns)
    return HindiAgreement(person, plural or person == 2, feminine, (head_of(phrase),))


def add_noun_phrase(line: Line, phrase: tree.NounPhrase, oblique: bool, owner: str | None = None) -> None:
    """The phrase without its relative clause; `oblique` where a postposition follows.

    What belongs to the subject itself is अपना: `owner` is `my` after `i`, `your` after `you`.
    """
    if isinstance(phrase, tree.Nominal):
        _nominal(line, phrase, oblique, owner)
    elif isinstance(phrase, tree.Coordination):
        add_noun_phrase(line, phrase.first, oblique)
        line.add("और", (phrase, "and"))
        add_noun_phrase(line, phrase.second, oblique)
    else:
        names = lexicon().subjects if isinstance(phrase, tree.Pronoun) else lexicon().names
        line.add(names[phrase.lemma], (phrase, "noun"), (phrase, "before"), (phrase, "determiner"))


def add_agent(line: Line, phrase: tree.NounPhrase, *verb: tree.Key) -> None:
    """The subject of a past that takes ने, which depends on the subject and on the verb that requires it."""
    if isinstance(phrase, tree.Pronoun):
        line.add(lexicon().agents[phrase.lemma], (phrase, "noun"))
    else:
        add_noun_phrase(line, phrase, oblique=True)
        line.add("ने", None, head_of(phrase), *verb)


def head_of(phrase: tree.NounPhrase) -> tree.Key:
    """The English word that a postposition after this phrase depends on."""
    while isinstance(phrase, tree.Coordination):
        phrase = phrase.second
    return phrase, "noun"


def adjective(lemma: str, kind: str) -> HindiAdjective:
    """Old people are बुज़ुर्ग, old things पुराना."""
    return lexicon().adjectives["aged" if lemma == "old" and kind == "person" else lemma]


def _nominal(line: Line, phrase: tree.Nominal, oblique: bool, owner: str | None) -> None:
    entry, determiner, key = lexicon().nouns[phrase.noun], phrase.determiner, (phrase, "determiner")
    feminine, inflected = entry.gender == "f", phrase.plural or oblique
    noun_keys: list[tree.Key] = []
    if determiner == "the" and phrase.relative is None:
        noun_keys.append(key)  # `the` has a word of its own only before a relative clause: वह आदमी जो, उस आदमी ने जो
    elif determiner in lexicon().demonstratives:
        word = lexicon().demonstratives[determiner][2 * oblique + phrase.plural]
        line.add(word, key, *([(phrase.relative, "marker")] if determiner == "the" and phrase.relative else []))
    elif determiner in lexicon().numbers:
        line.add(lexicon().numbers[determiner], key)
    elif determiner != "none":
        possessive = "own" if determiner == owner else determiner
        line.add(lexicon().adjectives[possessive].form(feminine, inflected), key)
    for role, lemma in (("before", phrase.before), ("after", phrase.after)):
        if lemma:
            line.add(adjective(lemma, phrase.kind).form(feminine, inflected), (phrase, role))
    line.add(entry.form(oblique, phrase.plural), (phrase, "noun"), *noun_keys)
