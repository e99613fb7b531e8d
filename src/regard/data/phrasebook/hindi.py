"""Renders a tree in Hindi: verb last, postpositions, ने in the past, relative clauses after the verb of their object."""

from typing import Final

from regard.data.phrasebook import tree
from regard.data.phrasebook.hindi_nouns import (
    HEARER,
    HindiAgreement,
    add_agent,
    add_noun_phrase,
    adjective,
    agreement,
    head_of,
)
from regard.data.phrasebook.lexicon import MISSING, Conjugation, HindiVerb
from regard.data.phrasebook.lexicon import hindi as lexicon
from regard.data.phrasebook.tree import Line

MASCULINE: Final = HindiAgreement(3, False, False)


def render(sentence: tree.Sentence) -> Line | None:
    """The Hindi words of a sentence, each with the English words it links to; None if a form is missing."""
    line = Line()
    for connector, clause in sentence.joined_clauses():
        if connector:
            line.add(lexicon().connectors[connector], (clause, "connector"))
        _clause(line, clause)
    return None if MISSING in line.words else line


def _clause(line: Line, clause: tree.Clause) -> None:
    doer, kind = HEARER, "person"
    if clause.subject is not None:
        _subject(line, clause.subject, clause.actions[0])
        doer = agreement(clause.subject)
        kind = clause.subject.kind if isinstance(clause.subject, tree.Nominal) else "person"
        if not _is_ergative(clause.actions[0]) and any(map(_is_ergative, clause.actions)):
            line.add(MISSING, None)  # a past with ने cannot share the subject of one without
    for joint, action in clause.joined_actions():
        if joint:
            line.add(lexicon().connectors.get(joint, joint), (action, "joint"))
        _verb_phrase(line, action, doer, kind)


def _is_ergative(phrase: tree.VerbPhrase) -> bool:
    if phrase.tense != "past" or phrase.adjective or phrase.verb.goal == "seat":
        return False
    return _hindi_verb(phrase).ergative


def _hindi_verb(phrase: tree.VerbPhrase) -> HindiVerb:
    return lexicon().verbs[phrase.verb.lemma]


def _subject(line: Line, subject: tree.NounPhrase, first: tree.VerbPhrase) -> None:
    """The subject in the case that its first verb requires, then its relative clause."""
    if _is_ergative(first):
        add_agent(line, subject, (first, "verb"), (first, "do"))
    else:
        add_noun_phrase(line, subject, oblique=False)
    _relative_clause(line, subject)


def _relative_clause(line: Line, head: tree.NounPhrase | None) -> None:
    """जो आता है, जिसने देखा; जिसे जेन देखती है."""
    if not isinstance(head, tree.Nominal) or head.relative is None:
        return
    relative, action = head.relative, head.relative.action
    if relative.subject is None:
        case = "ने" if _is_ergative(action) else "direct"
    else:
        case = _object_case(action, head.kind in ("person", "animal"))
    line.add(lexicon().relatives[case][head.plural], (relative, "marker"))
    if relative.subject is None:
        _verb_phrase(line, action, agreement(head), head.kind)
    else:
        _subject(line, relative.subject, action)
        _verb_phrase(line, action, agreement(relative.subject))


def _object_case(phrase: tree.VerbPhrase, animate: bool) -> str:
    case = _hindi_verb(phrase).case
    if case == "animate":
        return "को" if animate else "direct"
    return case


def _verb_phrase(line: Line, phrase: tree.VerbPhrase, doer: HindiAgreement, kind: str = "person") -> None:
    """Adverb, time, company, place, receiver, object, verb, then the relative clause of the object."""
    if phrase.adverb:
        line.add(lexicon().adverbs[phrase.adverb], (phrase, "adverb"))
    for modifier in sorted(phrase.modifiers, key=_is_place_or_company):
        _modifier(line, modifier, doer.owner)
    if phrase.adjective:
        line.add(adjective(phrase.adjective, kind).form(doer.feminine, doer.plural), (phrase, "adjective"))
        _negation(line, phrase)
        line.add(doer.was if phrase.tense == "past" else doer.copula, (phrase, "be"))
        return
    if phrase.verb.goal == "seat":
        assert phrase.goal is not None
        _modifier(line, phrase.goal, doer.owner)
        _negation(line, phrase)
        line.add(lexicon().adjectives["sitting"].form(doer.feminine, doer.plural), (phrase, "verb"))
        copula = doer.was if phrase.tense == "past" else doer.copula
        line.add(copula, None, (phrase, "verb"), (phrase, "do"), *doer.heads)
        return
    _goal(line, phrase, doer.owner)
    patient = MASCULINE if phrase.object is None else _object(line, phrase, phrase.object, doer.owner)
    _verb(line, phrase, doer, patient)
    _relative_clause(line, phrase.object)


def _is_place_or_company(modifier: tree.Modifier) -> bool:
    """Times precede places and company."""
    return isinstance(modifier, tree.PrepositionalPhrase) and getattr(modifier.phrase, "kind", "") != "month"


def _modifier(line: Line, modifier: tree.Modifier, owner: str | None) -> None:
    if isinstance(modifier, tree.PrepositionalPhrase):
        add_noun_phrase(line, modifier.phrase, True, owner)
        for word in lexicon().postpositions[modifier.preposition]:
            line.add(word, (modifier, "preposition"))
    else:
        line.add_time(lexicon().times[modifier.lemma], modifier)


def _goal(line: Line, phrase: tree.VerbPhrase, owner: str | None) -> None:
    """किताब बच्चे को; जापान की (यात्रा); बाज़ार (जाना), which takes no postposition."""
    if phrase.goal is None:
        return
    if phrase.verb.goal == "receiver":
        _modifier(line, phrase.goal, owner)
        return
    case = _hindi_verb(phrase).case
    add_noun_phrase(line, phrase.goal.phrase, True, owner)
    if case != "direct":
        line.add(case, None, (phrase.goal, "preposition"), head_of(phrase.goal.phrase))


def _object(line: Line, phrase: tree.VerbPhrase, target: tree.NounPhrase, owner: str | None) -> HindiAgreement:
    """Add the object in its case; return what a past with ने agrees with."""
    case = _object_case(phrase, animate=getattr(target, "kind", "person") in ("person", "animal"))
    if isinstance(target, tree.Pronoun):
        line.add(lexicon().objects[case][target.lemma], (target, "noun"), (phrase, "particle"))
        return MASCULINE
    add_noun_phrase(line, target, case != "direct", owner)
    if case == "direct":
        return agreement(target)
    if case == "से" and phrase.verb.particle:
        line.add(case, (phrase, "particle"), head_of(target))
    else:
        line.add(case, None, head_of(target), (phrase, "particle"), (phrase, "verb"))
    return MASCULINE


def _negation(line: Line, phrase: tree.VerbPhrase) -> None:
    if phrase.negated:
        line.add("मत" if phrase.tense == "command" else "नहीं", (phrase, "not"), (phrase, "do"))


def _verb(line: Line, phrase: tree.VerbPhrase, doer: HindiAgreement, patient: HindiAgreement) -> None:
    """[companion] [नहीं] verb [auxiliary]: काम नहीं करता है, ख़रीदने वाला नहीं है, मत खोलो."""
    entry, tense, verb = _hindi_verb(phrase), phrase.tense, (phrase, "verb")
    forms, particle = lexicon().conjugations[entry.verb], (phrase, "particle")
    if entry.companion:
        line.add(entry.companion, particle if phrase.verb.base == "turn" else verb, particle, verb)
    if tense not in ("command", "present", "past"):
        _modal(line, phrase, forms, doer)
        return
    _negation(line, phrase)
    if tense == "command":
        _form(line, phrase, forms.imperative)
    elif tense == "present":
        _form(line, phrase, doer.choose(forms.habitual))
        line.add(doer.copula, None, verb, particle, (phrase, "do"), *doer.heads)
    else:
        agreed = doer
        if entry.ergative:
            agreed = HindiAgreement(3, False, entry.feminine) if entry.noun else patient
        _form(line, phrase, agreed.choose(forms.perfective))


def _form(line: Line, phrase: tree.VerbPhrase, form: str) -> None:
    """A form of the verb. After a companion (काम करता) or a stem (खोल देता) it is an auxiliary without a sure link.

    A form of two words cannot be negated.
    """
    first, *rest = form.split(" ")
    keys: list[tree.Key] = [(phrase, "verb"), (phrase, "particle"), (phrase, "to")]
    if phrase.tense in ("present", "past", "command"):
        keys.append((phrase, "do"))
    if phrase.goal is not None and phrase.verb.goal != "receiver":
        keys.append((phrase.goal, "preposition"))  # `go` and `arrive` take no postposition
    auxiliary_keys: list[tree.Key] = [*keys, (phrase, "modal"), (phrase, "do")]
    if rest and phrase.negated:
        first = MISSING
    if _hindi_verb(phrase).companion:
        line.add(first, None, *auxiliary_keys)
    else:
        line.add(first, (phrase, "verb"), *keys)
    for word in rest:
        line.add(word, None, *auxiliary_keys)


def _modal(line: Line, phrase: tree.VerbPhrase, forms: Conjugation, doer: HindiAgreement) -> None:
    """करने वाला नहीं है, करना नहीं चाहता है, नहीं कर सकता है."""
    form, auxiliary = {
        "going": (forms.oblique, "about"),
        "want": (forms.infinitive, "wanting"),
        "can": (forms.stem, "able"),
    }[phrase.tense]
    modal, be = (phrase, "modal"), (phrase, "be")
    if phrase.tense == "can":
        _negation(line, phrase)
    _form(line, phrase, form)
    if phrase.tense == "want":
        _negation(line, phrase)
    line.add(lexicon().adjectives[auxiliary].form(doer.feminine, doer.plural), modal, (phrase, "to"), be)
    if phrase.tense == "going":
        _negation(line, phrase)
        line.add(doer.copula, be, modal, *doer.heads)
    else:
        line.add(doer.copula, None, modal, (phrase, "do"), *doer.heads)
