"""The Hindi of a tree: verb last, postpositions, ने in the past, relative clauses after the verb of their object."""

from typing import Final

from regard.data.phrasebook.hindi_nouns import (
    HEARER,
    Agreement,
    adjective,
    agreement,
    head_of,
    say_agent,
    say_noun_phrase,
)
from regard.data.phrasebook.lexicon import hindi as words
from regard.data.phrasebook.lexicon import hindi_verbs as verbs
from regard.data.phrasebook.lexicon.english import BE
from regard.data.phrasebook.line import ForeignLine
from regard.data.phrasebook.tree import (
    Around,
    Clause,
    Key,
    Moment,
    Nominal,
    NounPhrase,
    Pronoun,
    Relative,
    Sentence,
    VerbPhrase,
)

POSTPOSITIONS: Final = {"in": ("में",), "on": ("पर",), "under": ("के", "नीचे"), "with": ("के", "साथ"), "to": ("को",)}
COMPANION: Final = Agreement(3, False, False)


def speak(sentence: Sentence) -> ForeignLine | None:
    """The Hindi words of a sentence, each with the English words it answers to; None where a form is missing."""
    line = ForeignLine()
    for report in sentence.reports:
        _subject(line, report.subject, report.action)
        _verb_phrase(line, report.action, agreement(report.subject))
        line.say("कि", (report, "that"))
    for connector, clause in sentence.parts():
        if connector:
            line.say(words.CONNECTORS[connector], (clause, "connector"))
        _clause(line, clause)
    return None if words.MISSING in line.words else line


def _clause(line: ForeignLine, clause: Clause) -> None:
    doer, kind = HEARER, "person"
    if clause.subject is not None:
        _subject(line, clause.subject, clause.actions[0])
        doer = agreement(clause.subject)
        kind = clause.subject.kind if isinstance(clause.subject, Nominal) else "person"
        if not _is_ergative(clause.actions[0]) and any(map(_is_ergative, clause.actions)):
            line.say(words.MISSING, None)  # a past with ने cannot borrow its subject from one without
    for position, action in enumerate(clause.actions):
        if position:
            last = position == len(clause.actions) - 1
            line.say(words.CONNECTORS[clause.last] if last else ",", (action, "joint"))
        _verb_phrase(line, action, doer, kind)


def _is_ergative(phrase: VerbPhrase) -> bool:
    return phrase.tense == "past" and phrase.verb is not BE and phrase.verb.goal != "seat" and _use(phrase).ergative


def _use(phrase: VerbPhrase) -> verbs.Use:
    return verbs.VERBS[phrase.verb.lemma]


def _subject(line: ForeignLine, subject: NounPhrase, first: VerbPhrase) -> None:
    """The subject as its first verb wants it, then its relative clause."""
    if _is_ergative(first):
        say_agent(line, subject, (first, "verb"), (first, "do"))
    else:
        say_noun_phrase(line, subject, oblique=False)
    _relative_of(line, subject)


def _relative_of(line: ForeignLine, phrase: NounPhrase | None) -> None:
    if isinstance(phrase, Nominal) and phrase.relative is not None:
        _relative(line, phrase.relative, phrase)


def _relative(line: ForeignLine, relative: Relative, head: Nominal) -> None:
    """जो आता है, जिसने देखा; जिसे जेन देखती है."""
    action, marker = relative.action, (relative, "marker")
    if relative.subject is None:
        case = "ने" if _is_ergative(action) else "direct"
        line.say(words.RELATIVES[case][head.plural], marker)
        _verb_phrase(line, action, agreement(head), head.kind)
        return
    case = _use(action).case
    if case == "animate":
        case = "को" if head.kind in ("person", "animal") else "direct"
    line.say(words.RELATIVES[case][head.plural], marker)
    _subject(line, relative.subject, action)
    _verb_phrase(line, action, agreement(relative.subject))


def _verb_phrase(line: ForeignLine, phrase: VerbPhrase, doer: Agreement, kind: str = "person") -> None:
    """Adverb, time, company, place, receiver, object, verb, then the relative clause of the object."""
    if phrase.adverb:
        line.say(words.ADVERBS[phrase.adverb], (phrase, "adverb"))
    for around in sorted(phrase.around, key=_earliness):
        _around(line, around, doer.owner)
    if phrase.adjective:
        line.say(adjective(phrase.adjective, kind).form(doer.feminine, doer.plural), (phrase, "adjective"))
        _negation(line, phrase, "नहीं")
        _copula(line, phrase, doer, (phrase, "be"))
        return
    if phrase.verb.goal == "seat":
        assert phrase.goal is not None
        _around(line, phrase.goal, doer.owner)
        _seated(line, phrase, doer)
        return
    _goal(line, phrase, doer.owner)
    patient = COMPANION
    if phrase.object is not None:
        patient = _object(line, phrase, phrase.object, doer.owner)
    _verb(line, phrase, doer, patient)
    _relative_of(line, phrase.object)


def _earliness(around: Around | Moment) -> int:
    """Times stand before places."""
    return int(isinstance(around, Around) and not (around.preposition == "in" and _is_month(around.phrase)))


def _is_month(phrase: NounPhrase) -> bool:
    return getattr(phrase, "kind", "") == "month"


def _around(line: ForeignLine, around: Around | Moment, owner: str | None) -> None:
    if isinstance(around, Around):
        say_noun_phrase(line, around.phrase, True, owner)
        preposition = (around, "preposition")
        for word in POSTPOSITIONS[around.preposition]:
            line.say(word, preposition)
    elif around.lemma == "every day":
        line.say("हर", (around, "every"))
        line.say("दिन", (around, "moment"))
    else:
        line.say(words.MOMENTS[around.lemma], (around, "moment"))


def _goal(line: ForeignLine, phrase: VerbPhrase, owner: str | None) -> None:
    """किताब बच्चे को; जापान की (यात्रा); बाज़ार (जाना), which needs no postposition."""
    if phrase.goal is None:
        return
    if phrase.verb.goal == "receiver":
        _around(line, phrase.goal, owner)
        return
    case = _use(phrase).case
    say_noun_phrase(line, phrase.goal.phrase, True, owner)
    if case != "direct":
        line.say(case, None, (phrase.goal, "preposition"), head_of(phrase.goal.phrase))


def _object(line: ForeignLine, phrase: VerbPhrase, target: NounPhrase, owner: str | None) -> Agreement:
    """Say the object in its case; return what a past with ने agrees with."""
    case = _use(phrase).case
    living = not isinstance(target, Nominal) or target.kind in ("person", "animal")
    if case == "animate":
        case = "को" if living and not _is_place(target) else "direct"
    if isinstance(target, Pronoun):
        line.say(words.OBJECTS[case][target.lemma], (target, "noun"), (phrase, "particle"))
        return COMPANION
    say_noun_phrase(line, target, case != "direct", owner)
    if case == "direct":
        return agreement(target)
    if case == "से" and phrase.verb.particle:
        line.say(case, (phrase, "particle"), head_of(target))
    else:
        line.say(case, None, head_of(target), (phrase, "particle"), (phrase, "verb"))
    return COMPANION


def _is_place(phrase: NounPhrase) -> bool:
    return getattr(phrase, "kind", "") in ("country", "city")


def _seated(line: ForeignLine, phrase: VerbPhrase, doer: Agreement) -> None:
    _negation(line, phrase, "नहीं")
    line.say(words.ADJECTIVES["sitting"].form(doer.feminine, doer.plural), (phrase, "verb"))
    _copula(line, phrase, doer, None, (phrase, "verb"), (phrase, "do"), *doer.heads)


def _copula(
    line: ForeignLine,
    phrase: VerbPhrase,
    doer: Agreement,
    sure: Key | None,
    *possible: Key,
) -> None:
    line.say(doer.was if phrase.tense == "past" else doer.copula, sure, *possible)


def _negation(line: ForeignLine, phrase: VerbPhrase, word: str) -> None:
    if phrase.negated:
        line.say(word, (phrase, "not"), (phrase, "do"))


def _verb(line: ForeignLine, phrase: VerbPhrase, doer: Agreement, patient: Agreement) -> None:
    """[companion] [नहीं] verb [auxiliary]: काम नहीं करता है, ख़रीदने वाला नहीं है, मत खोलो."""
    use, tense, verb = _use(phrase), phrase.tense, (phrase, "verb")
    forms = verbs.CONJUGATED[use.verb]
    if use.companion:
        particle = (phrase, "particle")
        line.say(use.companion, particle if phrase.verb.base == "turn" else verb, particle, verb)
    if tense == "command":
        _negation(line, phrase, "मत")
        _form(line, phrase, forms.imperative)
    elif tense == "present":
        _negation(line, phrase, "नहीं")
        _form(line, phrase, doer.choose(forms.habitual))
        line.say(doer.copula, None, verb, (phrase, "particle"), (phrase, "do"), *doer.heads)
    elif tense == "past":
        _negation(line, phrase, "नहीं")
        agreed = doer
        if use.ergative:
            agreed = Agreement(3, False, use.feminine) if use.noun else patient
        _form(line, phrase, agreed.choose(forms.perfective))
    else:
        _modal(line, phrase, forms, doer)


def _form(line: ForeignLine, phrase: VerbPhrase, form: str) -> None:
    """A form of the verb. After a companion (काम करता) or a stem (खोल देता) it is an auxiliary and only leans.

    A form of two words cannot be negated.
    """
    verb = (phrase, "verb")
    first, *rest = form.split(" ")
    leaning: list[Key] = [verb, (phrase, "particle"), (phrase, "to")]
    if phrase.tense in ("present", "past", "command"):
        leaning.append((phrase, "do"))
    if phrase.goal is not None and phrase.verb.goal != "receiver":
        leaning.append((phrase.goal, "preposition"))  # one goes or arrives without a postposition
    auxiliary: list[Key] = [*leaning, (phrase, "modal"), (phrase, "do")]
    word = words.MISSING if rest and phrase.negated else first
    if _use(phrase).companion:
        line.say(word, None, *auxiliary)
    else:
        line.say(word, verb, *leaning)
    for word in rest:
        line.say(word, None, *auxiliary)


def _modal(line: ForeignLine, phrase: VerbPhrase, forms: verbs.Verb, doer: Agreement) -> None:
    """करने वाला नहीं है, करना नहीं चाहता है, नहीं कर सकता है."""
    form, auxiliary = {
        "going": (forms.oblique, "about"),
        "want": (forms.infinitive, "wanting"),
        "can": (forms.stem, "able"),
    }[phrase.tense]
    modal, to = (phrase, "modal"), (phrase, "to")
    if phrase.tense == "can":
        _negation(line, phrase, "नहीं")
    _form(line, phrase, form)
    if phrase.tense == "want":
        _negation(line, phrase, "नहीं")
    line.say(words.ADJECTIVES[auxiliary].form(doer.feminine, doer.plural), modal, to, (phrase, "be"))
    if phrase.tense == "going":
        _negation(line, phrase, "नहीं")
        line.say(doer.copula, (phrase, "be"), modal, *doer.heads)
    else:
        line.say(doer.copula, None, modal, (phrase, "do"), *doer.heads)
