"""Hindi noun phrases: case and number of the noun, and of everything that agrees with it."""

from typing import NamedTuple

from regard.data.phrasebook.lexicon import hindi as words
from regard.data.phrasebook.lexicon.english import NAMES
from regard.data.phrasebook.line import ForeignLine
from regard.data.phrasebook.tree import PERSONS, Couple, Key, Name, Nominal, NounPhrase, Pronoun, Proper


class Agreement(NamedTuple):
    """What a verb agrees with; the first and second person own what is `my` and `your`.

    `heads` is the English word of a subject: हूँ, हो and है lean on it.
    """

    person: int
    plural: bool
    feminine: bool
    heads: tuple[Key, ...] = ()

    @property
    def owner(self) -> str | None:
        return {1: "my", 2: "your"}.get(self.person)

    @property
    def copula(self) -> str:
        if self.person == 1:
            return "हूँ"
        if self.person == 2:
            return "हो"
        return "हैं" if self.plural else "है"

    @property
    def was(self) -> str:
        return "थीं" if self.feminine and self.plural else words.ADJECTIVES["was"].form(self.feminine, self.plural)

    def choose(self, forms: tuple[str, ...]) -> str:
        """One of masculine, masculine plural, feminine and, where there is one, feminine plural."""
        if self.feminine:
            return forms[-1] if self.plural else forms[2]
        return forms[1] if self.plural else forms[0]


HEARER = Agreement(2, True, False)
"""तुम is one person with the verb of several."""


def agreement(phrase: NounPhrase) -> Agreement:
    """Person, number and gender of a subject or object."""
    heads = (head_of(phrase),)
    if isinstance(phrase, Pronoun):
        person, plural, feminine = PERSONS[phrase.lemma]
        return Agreement(person, plural or person == 2, feminine, heads)
    if isinstance(phrase, Nominal):
        return Agreement(3, phrase.plural, words.NOUNS[phrase.noun].feminine, heads)
    if isinstance(phrase, Couple):
        feminine = agreement(phrase.first).feminine and agreement(phrase.second).feminine
        return Agreement(3, True, feminine, heads)
    return Agreement(3, False, NAMES.get(phrase.lemma) == "feminine", heads)


def say_noun_phrase(line: ForeignLine, phrase: NounPhrase, oblique: bool, owner: str | None = None) -> None:
    """The phrase without its relative clause; `oblique` where a postposition follows.

    What belongs to the subject itself is अपना: `owner` is `my` after `i`, `your` after `you`.
    """
    if isinstance(phrase, Nominal):
        _nominal(line, phrase, oblique, owner)
    elif isinstance(phrase, Couple):
        say_noun_phrase(line, phrase.first, oblique)
        line.say("और", (phrase, "and"))
        say_noun_phrase(line, phrase.second, oblique)
    elif isinstance(phrase, Name):
        line.say(words.NAMES[phrase.lemma], (phrase, "noun"))
    elif isinstance(phrase, Proper):
        line.say(words.PLACES[phrase.lemma], (phrase, "noun"), (phrase, "before"), (phrase, "determiner"))
    else:
        line.say(words.SUBJECTS[phrase.lemma], (phrase, "noun"))


def say_agent(line: ForeignLine, phrase: NounPhrase, *verb: Key) -> None:
    """The subject of a past that takes ने, which leans on the subject and on the verb that wants it."""
    if isinstance(phrase, Pronoun):
        line.say(words.AGENTS[phrase.lemma], (phrase, "noun"))
    else:
        say_noun_phrase(line, phrase, oblique=True)
        line.say("ने", None, head_of(phrase), *verb)


def head_of(phrase: NounPhrase) -> tuple[NounPhrase, str]:
    """The English word a postposition after this phrase leans on."""
    while isinstance(phrase, Couple):
        phrase = phrase.second
    return phrase, "noun"


def _nominal(line: ForeignLine, phrase: Nominal, oblique: bool, owner: str | None) -> None:
    entry = words.NOUNS[phrase.noun]
    feminine, plural = entry.feminine, phrase.plural
    other = plural or oblique
    _determiner(line, phrase, feminine, oblique, owner)
    for role, lemma in (("before", phrase.before), ("after", phrase.after)):
        if lemma:
            line.say(adjective(lemma, phrase.kind).form(feminine, other), (phrase, role))
    unsaid = phrase.determiner == "the" and phrase.relative is None
    leaning: tuple[Key, ...] = ((phrase, "determiner"),) if unsaid else ()
    line.say(entry.form(oblique, plural), (phrase, "noun"), *leaning)


def adjective(lemma: str, kind: str) -> words.Adjective:
    """Old people are बुज़ुर्ग, old things पुराना."""
    return words.ADJECTIVES["aged" if lemma == "old" and kind == "person" else lemma]


def _determiner(line: ForeignLine, phrase: Nominal, feminine: bool, oblique: bool, owner: str | None) -> None:
    """`the` is said only before a relative clause: वह आदमी जो, उस आदमी ने जो."""
    determiner, plural, cited = phrase.determiner, phrase.plural, (phrase, "determiner")
    if determiner == "this":
        line.say(("इन" if plural else "इस") if oblique else ("ये" if plural else "यह"), cited)
    elif determiner == "the":
        if phrase.relative is not None:
            word = ("उन" if plural else "उस") if oblique else ("वे" if plural else "वह")
            line.say(word, cited, (phrase.relative, "marker"))
    elif determiner in words.NUMBERS:
        line.say(words.NUMBERS[determiner], cited)
    elif determiner != "none":
        possessive = "own" if determiner == owner else determiner
        line.say(words.ADJECTIVES[possessive].form(feminine, plural or oblique), cited)
