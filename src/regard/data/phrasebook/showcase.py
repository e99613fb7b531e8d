"""The sentences we show: built by hand as trees, said by the same grammar, never in any split."""

from typing import Final

from regard.data.phrasebook.lexicon.english import VERBS
from regard.data.phrasebook.tree import (
    Around,
    Clause,
    Moment,
    Name,
    Nominal,
    Pronoun,
    Proper,
    Relative,
    Sentence,
    VerbPhrase,
)

_VERBS: Final = {verb.lemma: verb for verb in VERBS}


def _action(verb: str, **others: object) -> VerbPhrase:
    return VerbPhrase(_VERBS[verb], **others)  # type: ignore[arg-type]


def _one(subject: Name | Nominal | Pronoun | None, *actions: VerbPhrase) -> Sentence:
    return Sentence((Clause(subject, actions),))


def _cat() -> Sentence:
    mat = Around("on", Nominal("mat", "surface", "the"))
    return _one(Nominal("cat", "animal", "the", after="black"), _action("sit", tense="past", goal=mat))


def _love() -> Sentence:
    return _one(Pronoun("i"), _action("love", object=Pronoun("you")))


def _africa() -> Sentence:
    september = Around("in", Proper("september", "month"))
    return _one(Name("jane"), _action("visit", object=Proper("africa", "country"), around=(september,)))


def _lights() -> Sentence:
    return _one(None, _action("turn off", tense="command", object=Nominal("light", "device", "the", plural=True)))


def _journey(tasted: Nominal) -> Sentence:
    april = Around("in", Proper("april", "month"))
    return _one(
        Name("michael"),
        _action("travel", tense="past", goal=Around("to", Proper("japan", "country")), around=(april,)),
        _action("explore", tense="past", object=Nominal("temple", "place", "the", plural=True)),
        _action("taste", tense="past", object=tasted),
        _action("meet", tense="past", object=Nominal("friend", "person", "many", plural=True)),
        _action("tell", tense="past", object=Nominal("story", "story", "none", plural=True)),
    )


def _states() -> Sentence:
    there = Around("to", Proper("united states", "country"))
    return _one(Pronoun("she"), _action("go", tense="want", negated=True, goal=there, around=(Moment("tomorrow"),)))


def _girl() -> Sentence:
    garden = Around("in", Nominal("garden", "place", "the"))
    sleeps = Relative(_action("sleep", around=(garden,)))
    horse = Nominal("horse", "animal", "the", after="white")
    girl = Nominal("girl", "person", "the", before="small", relative=sleeps)
    return _one(girl, _action("see", negated=True, object=horse))


def _bread() -> Sentence:
    return _one(Pronoun("they"), _action("buy", tense="past", negated=True, object=Nominal("bread", "food", "none")))


def trees(pair: str) -> tuple[Sentence, ...]:
    """The showcase of a pair; Hindi has no word for `dishes` here and tastes mangoes."""
    if pair == "en-hi":
        tasted = Nominal("mango", "dish", "a")
    else:
        tasted = Nominal("dish", "dish", "none", plural=True, before="new")
    return _cat(), _love(), _africa(), _lights(), _states(), _bread(), _girl(), _journey(tasted)
