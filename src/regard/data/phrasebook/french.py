"""The French of a tree: agreement, clitics, two-part negation, adjectives on their side of the noun."""

from typing import Final, NamedTuple

from regard.data.phrasebook.french_sound import VOWELS, meet
from regard.data.phrasebook.lexicon import french as words
from regard.data.phrasebook.lexicon.english import BE, NAMES
from regard.data.phrasebook.line import ForeignLine
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


class Subject(NamedTuple):
    """Who acts: `form` counts je, tu, il, ils."""

    form: int
    plural: bool
    feminine: bool


HEARER: Final = Subject(1, False, False)


def speak(sentence: Sentence) -> ForeignLine:
    """The French words of a sentence, each with the English words it answers to."""
    line = ForeignLine()
    for report in sentence.reports:
        _noun_phrase(line, report.subject)
        _verb_phrase(line, report.action, _subject(report.subject))
        line.say("que", (report, "that"))
    for connector, clause in sentence.parts():
        if connector:
            line.say(words.CONNECTORS[connector], (clause, "connector"))
            if connector == "because":
                line.say("que", None, (clause, "connector"))
        _clause(line, clause)
    return meet(line)


def _subject(phrase: NounPhrase) -> Subject:
    if isinstance(phrase, Pronoun):
        person, plural, feminine = PERSONS[phrase.lemma]
        return Subject(3 if plural else person - 1, plural, feminine)
    if isinstance(phrase, Nominal):
        return Subject(3 if phrase.plural else 2, phrase.plural, words.NOUNS[phrase.noun].feminine)
    if isinstance(phrase, Couple):
        return Subject(3, True, _subject(phrase.first).feminine and _subject(phrase.second).feminine)
    return Subject(2, False, NAMES.get(phrase.lemma) == "feminine")


def _clause(line: ForeignLine, clause: Clause) -> None:
    subject = HEARER
    if clause.subject is not None:
        _noun_phrase(line, clause.subject)
        subject = _subject(clause.subject)
    for position, action in enumerate(clause.actions):
        if position:
            last = position == len(clause.actions) - 1
            line.say({"and": "et", "but": "mais"}[clause.last] if last else ",", (action, "joint"))
        _verb_phrase(line, action, subject)


def _noun_phrase(line: ForeignLine, phrase: NounPhrase, denied: bool = False) -> None:
    """`denied`: the object of a negated verb, where un, des and du become de."""
    if isinstance(phrase, Nominal):
        _nominal(line, phrase, denied)
    elif isinstance(phrase, Couple):
        _noun_phrase(line, phrase.first)
        line.say("et", (phrase, "and"))
        _noun_phrase(line, phrase.second)
    elif isinstance(phrase, Pronoun):
        line.say(words.SUBJECTS[phrase.lemma], (phrase, "noun"))
    elif isinstance(phrase, Proper):
        _proper(line, phrase)
    else:
        line.say(phrase.lemma, (phrase, "noun"))


def _proper(line: ForeignLine, phrase: Proper, preposition: tuple[Around, str] | None = None) -> None:
    """A country with its article or after its preposition (en france, au japon, aux états-unis), a city, a month."""
    lemma, noun = phrase.lemma, (phrase, "noun")
    feminine = lemma in words.FEMININE_COUNTRIES
    if preposition is not None:
        line.say("en" if feminine or phrase.kind == "month" else "à", preposition)
    if lemma in words.PLURAL_COUNTRIES:
        line.say("les", (phrase, "determiner"), noun)
        line.say(words.PLURAL_COUNTRIES[lemma], noun, (phrase, "before"))
    elif feminine:
        if preposition is None:
            line.say("la", None, noun)
        line.say(words.FEMININE_COUNTRIES[lemma], noun)
    elif lemma in words.MASCULINE_COUNTRIES:
        line.say("le", None, noun)
        line.say(words.MASCULINE_COUNTRIES[lemma], noun)
    else:
        line.say((words.CITIES if phrase.kind == "city" else words.MONTHS)[lemma], noun)


def _nominal(line: ForeignLine, phrase: Nominal, denied: bool) -> None:
    entry = words.NOUNS[phrase.noun]
    feminine, plural = entry.feminine, phrase.plural
    noun = entry.plural if plural else entry.singular
    before = None
    if phrase.before:
        adjective = words.ADJECTIVES[phrase.before]
        if noun[0] in VOWELS and not feminine and not plural:
            before = adjective.liaison
        else:
            before = adjective.form(feminine, plural)
    _determiner(line, phrase, feminine, (before or noun)[0] in VOWELS, denied)
    if before:
        line.say(before, (phrase, "before"))
    line.say(noun, (phrase, "noun"))
    if phrase.after:
        line.say(words.ADJECTIVES[phrase.after].form(feminine, plural), (phrase, "after"))
    if phrase.relative:
        _relative(line, phrase.relative, Subject(3 if plural else 2, plural, feminine))


def _determiner(line: ForeignLine, phrase: Nominal, feminine: bool, vowel: bool, denied: bool) -> None:
    """`vowel`: whether the next word begins with one (mon amie, cet homme). An article that English lacks leans on
    the noun and on the adjective that may stand between (de nouveaux amis)."""
    determiner, plural = phrase.determiner, phrase.plural
    cited, noun, between = (phrase, "determiner"), (phrase, "noun"), (phrase, "before")
    if determiner == "the":
        line.say("les" if plural else "la" if feminine else "le", cited)
    elif determiner == "a":
        line.say("de" if denied else "une" if feminine else "un", cited)
    elif determiner == "none":
        if denied or (plural and phrase.before):
            line.say("de", None, noun, between)
        elif plural:
            line.say("des", None, noun)
        else:
            line.say("de", None, noun, between)
            line.say("la" if feminine else "le", None, noun, between)
    elif determiner == "this":
        line.say("ces" if plural else "cette" if feminine else "cet" if vowel else "ce", cited)
    elif determiner == "many":
        line.say("beaucoup", cited)
        line.say("de", None, cited, noun, between)
    elif determiner in words.NUMBERS:
        line.say(words.NUMBERS[determiner], cited)
    else:
        masculine_form, feminine_form, plural_form = words.POSSESSIVES[determiner]
        line.say(plural_form if plural else feminine_form if feminine and not vowel else masculine_form, cited)


def _relative(line: ForeignLine, relative: Relative, head: Subject) -> None:
    if relative.subject is None:
        line.say("qui", (relative, "marker"))
        _verb_phrase(line, relative.action, head)
    else:
        line.say("que", (relative, "marker"))
        _noun_phrase(line, relative.subject)
        _verb_phrase(line, relative.action, _subject(relative.subject))


def _verb_phrase(line: ForeignLine, phrase: VerbPhrase, subject: Subject) -> None:
    pronoun = phrase.object if isinstance(phrase.object, Pronoun) else None
    _verb(line, phrase, subject, pronoun)
    if phrase.object is not None and pronoun is None:
        preposition = words.VERBS[phrase.verb.lemma].preposition
        if preposition:
            line.say(preposition, (phrase, "particle"))
        _noun_phrase(line, phrase.object, denied=phrase.negated and not preposition)
    if phrase.goal is not None:
        _around(line, phrase.goal)
    for around in phrase.around:
        _around(line, around)


def _around(line: ForeignLine, around: Around | Moment) -> None:
    if isinstance(around, Moment):
        french = words.MOMENTS[around.lemma]
        if len(french) == 2:
            line.say(french[0], (around, "every"))
        line.say(french[-1], (around, "moment"))
    elif isinstance(around.phrase, Proper):
        _proper(line, around.phrase, (around, "preposition"))
    else:
        line.say(words.PREPOSITIONS[around.preposition], (around, "preposition"))
        _noun_phrase(line, around.phrase)


def _verb(line: ForeignLine, phrase: VerbPhrase, subject: Subject, pronoun: Pronoun | None) -> None:
    """[ne] [clitic] finite [pas] [adverb] [clitic] rest: the clitic stands before the verb it belongs to."""
    verb, negation, auxiliary = (phrase, "verb"), (phrase, "not"), (phrase, "do")
    late = phrase.tense in ("going", "want", "can")
    if phrase.negated:
        line.say("ne", None, negation, auxiliary)
    if pronoun is not None and not late:
        line.say(words.OBJECTS[pronoun.lemma], (pronoun, "noun"))
    rest = _finite(line, phrase, subject, pronoun)
    if phrase.negated:
        if phrase.tense == "can":  # `cannot` is one word, and `peut` stands for it
            line.say("pas", None, negation)
        else:
            line.say("pas", negation, auxiliary)
    if phrase.adverb:
        line.say(words.ADVERBS[phrase.adverb], (phrase, "adverb"))
    if pronoun is not None and late:
        line.say(words.OBJECTS[pronoun.lemma], (pronoun, "noun"))
    if rest:
        if phrase.verb is BE:
            line.say(rest, (phrase, "adjective"))
        else:
            line.say(rest, verb, (phrase, "to"), (phrase, "particle"))


def _finite(line: ForeignLine, phrase: VerbPhrase, subject: Subject, pronoun: Pronoun | None) -> str:
    """Say the finite verb; return what follows it: participle, infinitive or adjective."""
    tense, form = phrase.tense, subject.form
    key, particle, auxiliary = (phrase, "verb"), (phrase, "particle"), (phrase, "do")
    if phrase.adjective or phrase.verb.goal == "seat":
        adjective = words.ADJECTIVES[phrase.adjective] if phrase.adjective else words.SEATED
        finite = (words.WAS if tense == "past" else words.ÊTRE)[form]
        if phrase.adjective:
            line.say(finite, (phrase, "be"))
        else:
            line.say(finite, None, key, auxiliary)
        return adjective.form(subject.feminine, subject.plural)
    verb = words.VERBS[phrase.verb.lemma]
    if tense == "past":
        line.say((words.ÊTRE if verb.être else words.AVOIR)[form], None, key, auxiliary)
        if verb.être:
            return verb.agreed(subject.feminine, subject.plural)
        before = pronoun.lemma if pronoun is not None else ""  # the participle agrees with what stands before it
        return verb.agreed(before == "her", before == "them")
    if tense == "going":
        line.say(words.VERBS["go"].present[form], (phrase, "modal"), (phrase, "be"), (phrase, "to"))
        return verb.infinitive
    if tense in ("want", "can"):
        line.say((words.WANT if tense == "want" else words.CAN)[form], (phrase, "modal"), (phrase, "to"), auxiliary)
        return verb.infinitive
    finite = verb.imperative if tense == "command" else verb.present[form]
    line.say(finite, key, particle, auxiliary)
    return ""
