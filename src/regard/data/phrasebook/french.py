"""Renders a tree in French: agreement, clitics, two-part negation, adjectives around the noun, elision, contraction."""

from typing import Final

from regard.data.phrasebook import tree
from regard.data.phrasebook.lexicon import Agreement
from regard.data.phrasebook.lexicon import french as lexicon
from regard.data.phrasebook.tree import Line

HEARER: Final = Agreement(2, False, False)
VOWELS: Final = tuple("aeiouhéèêàâîôœ")
"""First letters that elide the word before; every h of our French words is mute."""
ELIDED: Final = frozenset(["le", "la", "de", "ne", "que", "je", "me", "te"])
CONTRACTED: Final = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}


def render(sentence: tree.Sentence) -> Line:
    """The French words of a sentence, each with the English words it links to."""
    line = Line()
    for connector, clause in sentence.joined_clauses():
        if connector:
            line.add(lexicon().connectors[connector], (clause, "connector"))
            if connector == "because":
                line.add("que", None, (clause, "connector"))
        subject = HEARER
        if clause.subject is not None:
            _noun_phrase(line, clause.subject)
            subject = _agreement(clause.subject)
        for joint, action in clause.joined_actions():
            if joint:
                line.add(lexicon().connectors.get(joint, joint), (action, "joint"))
            _verb_phrase(line, action, subject)
    return _elide_and_contract(line)


def _agreement(phrase: tree.NounPhrase) -> Agreement:
    return tree.agreement(phrase, lexicon().nouns)


def _noun_phrase(line: Line, phrase: tree.NounPhrase, denied: bool = False) -> None:
    """`denied`: the object of a negated verb, where un, des and du become de."""
    if isinstance(phrase, tree.Nominal):
        _nominal(line, phrase, denied)
    elif isinstance(phrase, tree.Coordination):
        _noun_phrase(line, phrase.first)
        line.add("et", (phrase, "and"))
        _noun_phrase(line, phrase.second)
    elif isinstance(phrase, tree.ProperNoun):
        _proper_noun(line, phrase)
    else:
        word = lexicon().subjects[phrase.lemma] if isinstance(phrase, tree.Pronoun) else phrase.lemma
        line.add(word, (phrase, "noun"))


def _proper_noun(line: Line, phrase: tree.ProperNoun, preposition: tree.Key | None = None) -> None:
    """A country with its article or after its preposition (en france, au japon, aux états-unis), a city, a month."""
    article, name = lexicon().proper_nouns[phrase.lemma]
    noun = (phrase, "noun")
    if preposition is not None:
        line.add("en" if article == "la" or phrase.kind == "month" else "à", preposition)
    if article and not (preposition is not None and article == "la"):
        line.add(article, (phrase, "determiner"), noun)
    line.add(name, noun, (phrase, "before"))


def _nominal(line: Line, phrase: tree.Nominal, denied: bool) -> None:
    entry, adjectives = lexicon().nouns[phrase.noun], lexicon().adjectives
    feminine, plural = entry.gender == "f", phrase.plural
    noun = entry.plural if plural else entry.singular
    before = phrase.before and adjectives[phrase.before].form(feminine, plural, before_vowel=noun.startswith(VOWELS))
    _determiner(line, phrase, feminine, (before or noun).startswith(VOWELS), denied)
    if before:
        line.add(before, (phrase, "before"))
    line.add(noun, (phrase, "noun"))
    if phrase.after:
        line.add(adjectives[phrase.after].form(feminine, plural), (phrase, "after"))
    relative = phrase.relative
    if relative is not None:
        line.add("qui" if relative.subject is None else "que", (relative, "marker"))
        if relative.subject is not None:
            _noun_phrase(line, relative.subject)
        _verb_phrase(line, relative.action, _agreement(relative.subject or phrase))


def _determiner(line: Line, phrase: tree.Nominal, feminine: bool, vowel: bool, denied: bool) -> None:
    """`vowel`: whether the next word begins with one (mon amie, cet homme).

    An article without an English word depends on the noun and on the adjective before it (de nouveaux amis).
    """
    determiner, plural = phrase.determiner, phrase.plural
    key, noun, adjective = (phrase, "determiner"), (phrase, "noun"), (phrase, "before")
    if determiner == "the":
        line.add("les" if plural else "la" if feminine else "le", key)
    elif determiner == "a":
        line.add("de" if denied else "une" if feminine else "un", key)
    elif determiner == "none" and plural and not (denied or phrase.before):
        line.add("des", None, noun)
    elif determiner == "none":
        line.add("de", None, noun, adjective)
        if not denied and not plural:
            line.add("la" if feminine else "le", None, noun, adjective)
    elif determiner == "this":
        line.add("ces" if plural else "cette" if feminine else "cet" if vowel else "ce", key)
    elif determiner == "many":
        line.add("beaucoup", key)
        line.add("de", None, key, noun, adjective)
    elif determiner in lexicon().numbers:
        line.add(lexicon().numbers[determiner], key)
    else:
        masculine_form, feminine_form, plural_form = lexicon().possessives[determiner]
        line.add(plural_form if plural else feminine_form if feminine and not vowel else masculine_form, key)


def _verb_phrase(line: Line, phrase: tree.VerbPhrase, subject: Agreement) -> None:
    _verb(line, phrase, subject)
    if phrase.object is not None and not isinstance(phrase.object, tree.Pronoun):
        preposition = lexicon().verb_prepositions.get(phrase.verb.lemma)
        if preposition:
            line.add(preposition, (phrase, "particle"))
        _noun_phrase(line, phrase.object, denied=phrase.negated and not preposition)
    for modifier in (phrase.goal, *phrase.modifiers):
        if isinstance(modifier, tree.TimeAdverb):
            line.add_time(lexicon().times[modifier.lemma], modifier)
        elif modifier is not None and isinstance(modifier.phrase, tree.ProperNoun):
            _proper_noun(line, modifier.phrase, (modifier, "preposition"))
        elif modifier is not None:
            line.add(lexicon().prepositions[modifier.preposition], (modifier, "preposition"))
            _noun_phrase(line, modifier.phrase)


def _verb(line: Line, phrase: tree.VerbPhrase, subject: Agreement) -> None:
    """[ne] [clitic] finite [pas] [adverb] [clitic] rest: the clitic precedes the verb that it belongs to."""
    negation, auxiliary = (phrase, "not"), (phrase, "do")
    pronoun = phrase.object if isinstance(phrase.object, tree.Pronoun) else None
    modal = phrase.tense in ("going", "want", "can")
    if phrase.negated:
        line.add("ne", None, negation, auxiliary)
    if pronoun is not None and not modal:
        line.add(lexicon().objects[pronoun.lemma], (pronoun, "noun"))
    rest = _finite(line, phrase, subject, pronoun)
    if phrase.negated and phrase.tense == "can":  # `cannot` is one word, and `peut` translates it
        line.add("pas", None, negation)
    elif phrase.negated:
        line.add("pas", negation, auxiliary)
    if phrase.adverb:
        line.add(lexicon().adverbs[phrase.adverb], (phrase, "adverb"))
    if pronoun is not None and modal:
        line.add(lexicon().objects[pronoun.lemma], (pronoun, "noun"))
    if phrase.adjective:
        line.add(rest, (phrase, "adjective"))
    elif rest:
        line.add(rest, (phrase, "verb"), (phrase, "to"), (phrase, "particle"))


def _finite(line: Line, phrase: tree.VerbPhrase, subject: Agreement, pronoun: tree.Pronoun | None) -> str:
    """Add the finite verb; return what follows it: participle, infinitive or adjective."""
    tense, lemma = phrase.tense, phrase.verb.lemma
    form = 3 if subject.plural else subject.person - 1  # je, tu, il, ils
    verbs, auxiliaries = lexicon().verbs, lexicon().auxiliaries
    key, auxiliary = (phrase, "verb"), (phrase, "do")
    if phrase.adjective or phrase.verb.goal == "seat":
        finite = auxiliaries["was" if tense == "past" else "be"][form]
        if phrase.adjective:
            line.add(finite, (phrase, "be"))
        else:
            line.add(finite, None, key, auxiliary)
        return lexicon().adjectives[phrase.adjective or "seated"].form(subject.feminine, subject.plural)
    if tense == "past":
        with_be = lemma in lexicon().be_verbs
        line.add(auxiliaries["be" if with_be else "have"][form], None, key, auxiliary)
        if with_be:
            feminine, plural = subject.feminine, subject.plural
        else:  # the participle agrees with an object before it
            feminine, plural = (pronoun is not None and pronoun.lemma == other for other in ("her", "them"))
        return verbs[lemma].participle + "e" * feminine + "s" * plural
    if tense == "going":
        line.add(verbs["go"][form], (phrase, "modal"), (phrase, "be"), (phrase, "to"))
        return verbs[lemma].infinitive
    if tense in ("want", "can"):
        line.add(auxiliaries[tense][form], (phrase, "modal"), (phrase, "to"), auxiliary)
        return verbs[lemma].infinitive
    imperative = lexicon().imperatives.get(lemma, verbs[lemma].first)
    line.add(imperative if tense == "command" else verbs[lemma][form], key, (phrase, "particle"), auxiliary)
    return ""


def _elide_and_contract(line: Line) -> Line:
    """The line as it is written: l'école, du, aux.

    A contraction translates its preposition and depends on the words that the article links to.
    """
    result = Line()
    words = line.words
    rows = zip(words, [*words[1:], ""], [*words[2:], "", ""], line.keys, strict=False)
    for word, following, after, (sure, possible) in rows:
        if word in ELIDED and following.startswith(VOWELS):
            word = word[:-1] + "'"
        elif (word, following) in CONTRACTED and not (following == "le" and after.startswith(VOWELS)):
            word = CONTRACTED[word, following]
            _, _, _, (article, others) = next(rows)
            possible += (*others, *([article] if article else []))
        result.add(word, sure, *possible)
    return result
