"""The English of a tree, which notes where each (node, role) is spoken."""

from typing import Final

from regard.data.phrasebook.lexicon.english import BE, PLURALS, VOWELS
from regard.data.phrasebook.line import EnglishLine
from regard.data.phrasebook.tree import (
    PERSONS,
    Around,
    Clause,
    Couple,
    Moment,
    Nominal,
    NounPhrase,
    Pronoun,
    Proper,
    Relative,
    Sentence,
    VerbPhrase,
)

FIRST: Final = 0
THIRD: Final = 1
OTHER: Final = 2
"""Who acts, as far as English cares: `i`, a third person singular, or anybody else."""

BE_PRESENT: Final = ("am", "is", "are")
BE_PAST: Final = ("was", "was", "were")


def speak(sentence: Sentence) -> EnglishLine:
    """The English words of a sentence and their places."""
    line = EnglishLine()
    for report in sentence.reports:
        _noun_phrase(line, report.subject)
        _verb_phrase(line, report.action, _agreement(report.subject))
        line.say("that", (report, "that"))
    for connector, clause in sentence.parts():
        if connector:
            line.say(connector, (clause, "connector"))
        _clause(line, clause)
    return line


def plural_of(noun: str) -> str:
    """
    >>> plural_of("box"), plural_of("city"), plural_of("child"), plural_of("boy")
    ('boxes', 'cities', 'children', 'boys')
    """
    if noun in PLURALS:
        return PLURALS[noun]
    if noun.endswith(("x", "ch", "sh")) or noun == "mango":
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def _agreement(subject: NounPhrase) -> int:
    if isinstance(subject, Pronoun):
        person, plural, _ = PERSONS[subject.lemma]
        return FIRST if person == 1 else OTHER if person == 2 or plural else THIRD
    if isinstance(subject, Nominal):
        return OTHER if subject.plural else THIRD
    return OTHER if isinstance(subject, Couple) else THIRD


def _clause(line: EnglishLine, clause: Clause) -> None:
    agreement = OTHER
    if clause.subject is not None:
        _noun_phrase(line, clause.subject)
        agreement = _agreement(clause.subject)
    for position, action in enumerate(clause.actions):
        if position:
            last = position == len(clause.actions) - 1
            line.say(clause.last if last else ",", (action, "joint"))
        _verb_phrase(line, action, agreement)


def _noun_phrase(line: EnglishLine, phrase: NounPhrase) -> None:
    if isinstance(phrase, Nominal):
        _nominal(line, phrase)
    elif isinstance(phrase, Couple):
        _noun_phrase(line, phrase.first)
        line.say("and", (phrase, "and"))
        _noun_phrase(line, phrase.second)
    elif isinstance(phrase, Proper) and phrase.lemma == "united states":
        line.say("the", (phrase, "determiner"))
        line.say("united", (phrase, "before"))
        line.say("states", (phrase, "noun"))
    else:
        line.say(phrase.lemma, (phrase, "noun"))


def _nominal(line: EnglishLine, phrase: Nominal) -> None:
    noun = plural_of(phrase.noun) if phrase.plural else phrase.noun
    determiner = phrase.determiner
    if determiner != "none":
        word: str = determiner
        if word == "a" and (phrase.before or phrase.after or noun)[0] in VOWELS:
            word = "an"
        elif word == "this" and phrase.plural:
            word = "these"
        line.say(word, (phrase, "determiner"))
    if phrase.before:
        line.say(phrase.before, (phrase, "before"))
    if phrase.after:
        line.say(phrase.after, (phrase, "after"))
    line.say(noun, (phrase, "noun"))
    if phrase.relative:
        _relative(line, phrase.relative, phrase)


def _relative(line: EnglishLine, relative: Relative, head: Nominal) -> None:
    marker = "who" if head.kind == "person" and relative.subject is None else "that"
    line.say(marker, (relative, "marker"))
    if relative.subject is None:
        _verb_phrase(line, relative.action, _agreement(head))
    else:
        _noun_phrase(line, relative.subject)
        _verb_phrase(line, relative.action, _agreement(relative.subject))


def _verb_phrase(line: EnglishLine, phrase: VerbPhrase, agreement: int) -> None:
    if phrase.adverb:
        line.say(phrase.adverb, (phrase, "adverb"))
    _verb(line, phrase, agreement)
    if phrase.adjective:
        line.say(phrase.adjective, (phrase, "adjective"))
    if phrase.verb.particle:
        line.say(phrase.verb.particle, (phrase, "particle"))
    if phrase.object is not None:
        _noun_phrase(line, phrase.object)
    if phrase.goal is not None:
        _around(line, phrase.goal)
    for around in phrase.around:
        _around(line, around)


def _around(line: EnglishLine, around: Around | Moment) -> None:
    if isinstance(around, Around):
        line.say(around.preposition, (around, "preposition"))
        _noun_phrase(line, around.phrase)
    elif around.lemma == "every day":
        line.say("every", (around, "every"))
        line.say("day", (around, "moment"))
    else:
        line.say(around.lemma, (around, "moment"))


def _verb(line: EnglishLine, phrase: VerbPhrase, agreement: int) -> None:
    """The verb with its auxiliaries: `did not visit`, `is going to visit`, `wants to visit`, `cannot visit`."""
    verb, tense = phrase.verb, phrase.tense
    if verb is BE or tense == "going":
        line.say((BE_PAST if tense == "past" else BE_PRESENT)[agreement], (phrase, "be"))
        if phrase.negated:
            line.say("not", (phrase, "not"))
        if verb is BE:
            return
        line.say("going", (phrase, "modal"))
        line.say("to", (phrase, "to"))
        line.say(verb.base, (phrase, "verb"))
        return
    if tense == "can":
        if phrase.negated:
            line.say("cannot", (phrase, "modal"), (phrase, "not"))
        else:
            line.say("can", (phrase, "modal"))
        line.say(verb.base, (phrase, "verb"))
        return
    if phrase.negated:
        line.say("did" if tense == "past" else "does" if agreement == THIRD else "do", (phrase, "do"))
        line.say("not", (phrase, "not"))
    third = agreement == THIRD and not phrase.negated
    if tense == "want":
        line.say("wants" if third else "want", (phrase, "modal"))
        line.say("to", (phrase, "to"))
        line.say(verb.base, (phrase, "verb"))
    elif tense == "past" and not phrase.negated:
        line.say(verb.past, (phrase, "verb"))
    else:
        line.say(verb.singular if third and tense == "present" else verb.base, (phrase, "verb"))
