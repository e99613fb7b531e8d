"""Every word a pair can produce, found by saying small sentences that together use every form of every entry."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from regard.data.phrasebook import english
from regard.data.phrasebook.languages import language
from regard.data.phrasebook.lexicon.english import BE, CITIES, COUNTRIES, MASSES, MONTHS, NAMES, OWNED, SAY, Verb
from regard.data.phrasebook.sampling.nouns import OBJECTS, PLURAL, SINGULAR, TIMES
from regard.data.phrasebook.sampling.stock import Stock
from regard.data.phrasebook.tree import (
    Around,
    Clause,
    Couple,
    Moment,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Proper,
    Relative,
    Report,
    Sentence,
    Tense,
    VerbPhrase,
)

SUBJECTS: Final = ("i", "you", "he", "she", "they")
SIMPLE: Final[tuple[Tense, ...]] = ("present", "past")
TENSES: Final[tuple[Tense, ...]] = ("present", "past", "going", "want", "can")
GOALS: Final = {"seat": "on", "arrival": "at", "receiver": "to", "destination": "to", "country": "to"}


@cache
def vocabulary(pair: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of the source and of the target language, each sorted."""
    tongue = language(pair)
    spoken: set[str] = set()
    answered: set[str] = set()
    for tree in _sentences(tongue.stock):
        foreign = tongue.speak(tree)
        if foreign is not None:
            spoken.update(english.speak(tree).words)
            answered.update(foreign.words)
    ours, theirs = tuple(sorted(spoken)), tuple(sorted(answered))
    return (theirs, ours) if tongue.flipped else (ours, theirs)


def _sentences(stock: Stock) -> Iterator[Sentence]:
    verbs = {verb.lemma: verb for verb in stock.doing("person", stock.largest)}
    yield from _joints(verbs["sleep"])
    yield from _places(verbs["sleep"], verbs["visit"])
    for nominal in _nominals(stock):
        yield from _said_of(stock, nominal, verbs["see"])
        yield from _done_to(stock, nominal)
    for verb in verbs.values():
        yield from _done_by(stock, verb)


def _say(subject: NounPhrase | None, *actions: VerbPhrase) -> Sentence:
    return Sentence((Clause(subject, actions),))


def _joints(sleep: Verb) -> Iterator[Sentence]:
    """What stands between clauses and actions, and around verbs."""
    jane, action = Name("jane"), VerbPhrase(sleep)
    yield _say(jane, action, VerbPhrase(sleep), VerbPhrase(sleep))
    for connector in ("and", "but", "because"):
        for other in (jane, Pronoun("he")):
            yield Sentence((Clause(jane, (action,)), Clause(other, (VerbPhrase(sleep),))), (connector,))
    subjects: list[NounPhrase] = [*map(Name, NAMES), *map(Pronoun, SUBJECTS)]
    for subject in subjects:
        for tense in SIMPLE:
            said = Report(subject, VerbPhrase(SAY, tense))
            yield Sentence((Clause(jane, (VerbPhrase(sleep),)),), reports=(said,))
    for adverb in ("often", "always"):
        yield _say(jane, VerbPhrase(sleep, adverb=adverb))
    for moment in sorted({moment for times in TIMES.values() for moment in times} - {"month"}):
        yield _say(jane, VerbPhrase(sleep, around=(Moment(moment),)))


def _places(sleep: Verb, visit: Verb) -> Iterator[Sentence]:
    for preposition in ("in", "on", "under", "with"):
        yield _say(Name("jane"), VerbPhrase(sleep, around=(Around(preposition, Name("tom")),)))
    for place in (
        *(Proper(lemma, "country") for lemma in COUNTRIES),
        *(Proper(lemma, "city") for lemma in CITIES),
        *(Proper(lemma, "month") for lemma in MONTHS),
    ):
        yield _say(Name("jane"), VerbPhrase(sleep, around=(Around("in", place),)))
        if place.kind != "month":
            yield _say(Name("jane"), VerbPhrase(visit, object=place))


def _nominals(stock: Stock) -> Iterator[Nominal]:
    """Every noun with every determiner it may have and, after `the` and without an article, every adjective."""
    for kind, nouns in stock.nouns.items():
        for noun in nouns:
            for plural in (False,) if kind in MASSES or noun in stock.singular else (False, True):
                determiners = sorted({each for use in (PLURAL if plural else SINGULAR).values() for each in use})
                if kind in MASSES:
                    determiners = ["the", "none"]
                for determiner in determiners:
                    if determiner not in ("my", "your") or noun in OWNED:
                        yield Nominal(noun, kind, determiner, plural)
                for before in stock.before[noun]:
                    yield Nominal(noun, kind, "the", plural, before=before)
                    if "none" in determiners:
                        yield Nominal(noun, kind, "none", plural, before=before)
                for after in stock.after[noun]:
                    yield Nominal(noun, kind, "the", plural, after=after)


def _said_of(stock: Stock, nominal: Nominal, see: Verb) -> Iterator[Sentence]:
    """The noun as a subject, in a place, and with relative clauses."""
    noun, kind, plural = nominal.noun, nominal.kind, nominal.plural
    living = kind in ("person", "animal")
    if living and nominal.determiner != "none":
        for tense in SIMPLE:
            yield _say(nominal, VerbPhrase(see, tense, object=Name("jane")))
    if not plural and kind in ("place", "area", "surface"):
        yield _say(Name("jane"), VerbPhrase(see, object=Name("tom"), around=(Around("in", nominal),)))
    if nominal.determiner != "the" or nominal.before or nominal.after:
        return
    for adjective in stock.before[noun] + stock.after[noun]:
        for tense in SIMPLE:
            if adjective != "new":
                yield _say(nominal, VerbPhrase(BE, tense, adjective=adjective))
    relatives = [
        Relative(VerbPhrase(verb), subject) for verb in stock.takers[kind] for subject in (Name("jane"), Pronoun("he"))
    ]
    if living:
        relatives += [Relative(VerbPhrase(see, tense, object=Name("jane"))) for tense in SIMPLE]
    for relative in relatives:
        linked = Nominal(noun, kind, "the", plural, relative=relative)
        yield from (_say(Name("tom"), action) for action in _acts(stock, linked, "present"))


def _done_to(stock: Stock, nominal: Nominal) -> Iterator[Sentence]:
    """The noun as an object, also of what is not done."""
    for tense in SIMPLE:
        for action in _acts(stock, nominal, tense):
            yield _say(Name("jane"), action)
            if nominal.determiner == "my":
                yield _say(Pronoun("i"), action)
    for action in _acts(stock, nominal, "present", negated=True):
        yield _say(Name("jane"), action)


def _acts(stock: Stock, nominal: Nominal, tense: Tense, negated: bool = False) -> Iterator[VerbPhrase]:
    for verb in stock.doing("person", stock.largest):
        definite = nominal.determiner in ("the", "my", "your", "this")
        if nominal.kind in verb.objects and (definite or not verb.definite):
            yield VerbPhrase(verb, tense, negated, object=nominal, goal=_goal(verb))


def _goal(verb: Verb) -> Around | None:
    return Around(GOALS[verb.goal], Name("tom")) if verb.goal else None


def _done_by(stock: Stock, verb: Verb) -> Iterator[Sentence]:
    """The verb with every subject, tense and pronoun."""
    targets: list[NounPhrase | None] = [None]
    if verb.objects:
        kind = verb.objects[0]
        noun = stock.nouns[kind][0]  # type: ignore[index]
        targets = [Nominal(noun, kind, "the")]  # type: ignore[arg-type]
    if verb.pronouns:
        targets.extend(Pronoun(lemma) for lemma in OBJECTS)
    subjects: list[NounPhrase] = [*map(Pronoun, SUBJECTS), Couple(Name("jane"), Name("maria"))]
    for subject in subjects:
        for tense in SIMPLE if verb.simple else TENSES:
            for negated in (False, True):
                for target in targets:
                    yield _say(subject, VerbPhrase(verb, tense, negated, object=target, goal=_goal(verb)))
    if any(verb is each for each in stock.doing("command", stock.largest)):
        for negated in (False, True):
            yield _say(None, VerbPhrase(verb, "command", negated, object=targets[0], goal=_goal(verb)))
