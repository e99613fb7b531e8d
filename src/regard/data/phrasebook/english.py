"""Renders a tree in English and records the position of each (node, role)."""

from typing import Final

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import english as lexicon
from regard.data.phrasebook.tree import Line

VOWELS: Final = "aeiou"
FIRST: Final = 0
THIRD: Final = 1
OTHER: Final = 2
"""What English verbs agree with: `i`, a third person singular, or any other subject."""
BE_PRESENT: Final = ("am", "is", "are")
BE_PAST: Final = ("was", "was", "were")


def render(sentence: tree.Sentence) -> Line:
    """The English words of a sentence and their positions."""
    line = Line()
    for connector, clause in sentence.joined_clauses():
        if connector:
            line.add(connector, (clause, "connector"))
        agreement = OTHER
        if clause.subject is not None:
            _noun_phrase(line, clause.subject)
            agreement = _agreement(clause.subject)
        for joint, action in clause.joined_actions():
            if joint:
                line.add(joint, (action, "joint"))
            _verb_phrase(line, action, agreement)
    return line


def plural_of(noun: str) -> str:
    """
    >>> plural_of("box"), plural_of("city"), plural_of("child"), plural_of("boy")
    ('boxes', 'cities', 'children', 'boys')
    """
    if noun in lexicon().plurals:
        return lexicon().plurals[noun]
    if noun.endswith(("x", "ch", "sh")) or noun == "mango":
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def _agreement(subject: tree.NounPhrase) -> int:
    person, plural, _ = tree.agreement(subject)
    return FIRST if person == 1 else OTHER if person == 2 or plural else THIRD


def _noun_phrase(line: Line, phrase: tree.NounPhrase) -> None:
    if isinstance(phrase, tree.Nominal):
        _nominal(line, phrase)
    elif isinstance(phrase, tree.Coordination):
        _noun_phrase(line, phrase.first)
        line.add("and", (phrase, "and"))
        _noun_phrase(line, phrase.second)
    elif phrase.lemma == "united states":
        line.add("the", (phrase, "determiner"))
        line.add("united", (phrase, "before"))
        line.add("states", (phrase, "noun"))
    else:
        line.add(phrase.lemma, (phrase, "noun"))


def _nominal(line: Line, phrase: tree.Nominal) -> None:
    noun = plural_of(phrase.noun) if phrase.plural else phrase.noun
    word: str = phrase.determiner
    if word == "a" and (phrase.before or phrase.after or noun)[0] in VOWELS:
        word = "an"
    elif word == "this" and phrase.plural:
        word = "these"
    if word != "none":
        line.add(word, (phrase, "determiner"))
    for adjective, role in ((phrase.before, "before"), (phrase.after, "after")):
        if adjective:
            line.add(adjective, (phrase, role))
    line.add(noun, (phrase, "noun"))
    relative = phrase.relative
    if relative is not None:
        marker = "who" if phrase.kind == "person" and relative.subject is None else "that"
        line.add(marker, (relative, "marker"))
        if relative.subject is not None:
            _noun_phrase(line, relative.subject)
        _verb_phrase(line, relative.action, _agreement(relative.subject or phrase))


def _verb_phrase(line: Line, phrase: tree.VerbPhrase, agreement: int) -> None:
    if phrase.adverb:
        line.add(phrase.adverb, (phrase, "adverb"))
    _verb(line, phrase, agreement)
    if phrase.adjective:
        line.add(phrase.adjective, (phrase, "adjective"))
    if phrase.verb.particle:
        line.add(phrase.verb.particle, (phrase, "particle"))
    if phrase.object is not None:
        _noun_phrase(line, phrase.object)
    for modifier in (phrase.goal, *phrase.modifiers):
        if isinstance(modifier, tree.PrepositionalPhrase):
            line.add(modifier.preposition, (modifier, "preposition"))
            _noun_phrase(line, modifier.phrase)
        elif modifier is not None:
            line.add_time(modifier.lemma.split(), modifier)


def _verb(line: Line, phrase: tree.VerbPhrase, agreement: int) -> None:
    """The verb with its auxiliaries: `did not visit`, `is going to visit`, `wants to visit`, `cannot visit`."""
    verb, tense, negated = phrase.verb, phrase.tense, phrase.negated
    third = agreement == THIRD and not negated
    form = verb.base
    if phrase.adjective or tense == "going":
        line.add((BE_PAST if tense == "past" else BE_PRESENT)[agreement], (phrase, "be"))
    elif tense == "can":
        line.add("cannot" if negated else "can", (phrase, "modal"), *([(phrase, "not")] if negated else []))
    elif negated:
        line.add("did" if tense == "past" else "does" if agreement == THIRD else "do", (phrase, "do"))
    elif tense == "past":
        form = verb.past
    elif tense == "present" and third:
        form = verb.singular
    if negated and tense != "can":
        line.add("not", (phrase, "not"))
    if tense in ("going", "want"):
        line.add("going" if tense == "going" else "wants" if third else "want", (phrase, "modal"))
        line.add("to", (phrase, "to"))
    if not phrase.adjective:
        line.add(form, (phrase, "verb"))
