"""French sentences checked by hand, one for each thing French does: agreement, elision, clitics, negation, articles."""

from typing import Any

import pytest

from regard.data.phrasebook.tree import Coordination, Name, Pronoun, ProperNoun, RelativeClause, Sentence, TimeAdverb

from .trees import act, be, country, gold, join, month, noun, nouns, phrase, report, said, say

CASES: list[Any] = [
    (
        say(noun("cat", after="black"), act("sit", "past", goal=phrase("on", noun("mat")))),
        "the black cat sat on the mat",
        "le chat noir était assis sur le tapis",
        "0-0 2-1 1-2 3?3 3-4 4-5 5-6 6-7",
    ),
    (
        say("i", act("love", target=Pronoun("you"))),
        "i love you",
        "je t'aime",
        "0-0 2-1 1-2",
    ),
    (
        say("she", act("see", "past", Pronoun("her"))),
        "she saw her",
        "elle l'a vue",
        "0-0 2-1 1?2 1-3",
    ),
    (
        say("she", act("wait for", "past", Pronoun("them"), negated=True)),
        "she did not wait for them",
        "elle ne les a pas attendus",
        "0-0 1?1 2?1 5-2 1?3 3?3 1?4 2-4 3-5 4?5",
    ),
    (
        say("they", act("help", "going", Pronoun("me"), negated=True)),
        "they are not going to help me",
        "ils ne vont pas m'aider",
        "0-0 2?1 1?2 3-2 4?2 2-3 6-4 4?5 5-5",
    ),
    (
        say("he", act("eat", "present", noun("bread", "none"), negated=True)),
        "he does not eat bread",
        "il ne mange pas de pain",
        "0-0 1?1 2?1 1?2 3-2 1?3 2-3 4?4 4-5",
    ),
    (
        say("he", act("eat", "present", noun("bread", "none", before="good"))),
        "he eats good bread",
        "il mange du bon pain",
        "0-0 1-1 2?2 3?2 2-3 3-4",
    ),
    (
        say("he", act("drink", "past", noun("water", "none", after="cold"))),
        "he drank cold water",
        "il a bu de l'eau froide",
        "0-0 1?1 1-2 3?3 3?4 3-5 2-6",
    ),
    (
        say("i", act("buy", "past", noun("car", "a"), negated=True)),
        "i did not buy a car",
        "je n'ai pas acheté de voiture",
        "0-0 1?1 2?1 1?2 3?2 1?3 2-3 3-4 4-5 5-6",
    ),
    (
        say("you", act("buy", "can", nouns("gift", "none"), negated=True)),
        "you cannot buy gifts",
        "tu ne peux pas acheter de cadeaux",
        "0-0 1?1 1-2 1?3 2-4 3?5 3-6",
    ),
    (
        say("you", act("meet", "past", nouns("friend", "none", before="old"))),
        "you met old friends",
        "tu as rencontré de vieux amis",
        "0-0 1?1 1-2 2?3 3?3 2-4 3-5",
    ),
    (
        say("they", act("see", "present", nouns("horse", "many"))),
        "they see many horses",
        "ils voient beaucoup de chevaux",
        "0-0 1-1 2-2 2?3 3?3 3-4",
    ),
    (
        say(noun("man", "this", before="old"), act("open", "present", nouns("window"))),
        "this old man opens the windows",
        "ce vieil homme ouvre les fenêtres",
        "0-0 1-1 2-2 3-3 4-4 5-5",
    ),
    (
        say(nouns("man", "this", before="old"), act("open", "present", noun("window"))),
        "these old men open the window",
        "ces vieux hommes ouvrent la fenêtre",
        "0-0 1-1 2-2 3-3 4-4 5-5",
    ),
    (
        say(noun("bird", "a", before="beautiful", after="white"), act("sleep")),
        "a beautiful white bird sleeps",
        "un bel oiseau blanc dort",
        "0-0 1-1 3-2 2-3 4-4",
    ),
    (
        say("jane", act("see", "present", noun("hotel", "the", before="new"))),
        "jane sees the new hotel",
        "jane voit le nouvel hôtel",
        "0-0 1-1 2-2 3-3 4-4",
    ),
    (
        say(nouns("girl", "my"), act("arrive", "past", goal=phrase("at", noun("school")))),
        "my girls arrived at the school",
        "mes filles sont arrivées à l'école",
        "0-0 1-1 2?2 2-3 3-4 4-5 5-6",
    ),
    (
        say("maria", act("go", "past", goal=phrase("to", noun("market")))),
        "maria went to the market",
        "maria est allée au marché",
        "0-0 1?1 1-2 2-3 3?3 4-4",
    ),
    (
        say(Coordination(Name("jane"), Name("michael")), act("go", "past", goal=phrase("to", country("japan")))),
        "jane and michael went to japan",
        "jane et michael sont allés au japon",
        "0-0 1-1 2-2 3?3 3-4 4-5 5?5 5-6",
    ),
    (
        say(Coordination(Name("jane"), Name("lucy")), be("happy", "past")),
        "jane and lucy were happy",
        "jane et lucy étaient heureuses",
        "0-0 1-1 2-2 3-3 4-4",
    ),
    (
        say("i", act("travel", "want", goal=phrase("to", country("united states")))),
        "i want to travel to the united states",
        "je veux voyager aux états-unis",
        "0-0 1-1 2?1 2?2 3-2 4-3 5?3 7?3 6?4 7-4",
    ),
    (
        say("michael", act("visit", "present", country("italy"), modifiers=(month("april"),))),
        "michael visits italy in april",
        "michael visite l'italie en avril",
        "0-0 1-1 2?2 2-3 3-4 4-5",
    ),
    (
        say("he", act("visit", "present", country("united states"))),
        "he visits the united states",
        "il visite les états-unis",
        "0-0 1-1 2-2 4?2 3?3 4-3",
    ),
    (
        say(
            "they",
            act(
                "dance",
                "present",
                adverb="often",
                modifiers=(phrase("with", noun("sister", "your")), phrase("in", ProperNoun("paris", "city"))),
            ),
        ),
        "they often dance with your sister in paris",
        "ils dansent souvent avec ta sœur à paris",
        "0-0 2-1 1-2 3-3 4-4 5-5 6-6 7-7",
    ),
    (
        say("tom", act("talk to", "present", nouns("teacher"))),
        "tom talks to the teachers",
        "tom parle aux professeurs",
        "0-0 1-1 2?1 2-2 3?2 4-3",
    ),
    (
        say("tom", act("give", "past", noun("apple", "my"), goal=phrase("to", noun("doctor")))),
        "tom gave my apple to the doctor",
        "tom a donné ma pomme au médecin",
        "0-0 1?1 1-2 2-3 3-4 4-5 5?5 6-6",
    ),
    (
        say(noun("picture", "your"), be("expensive")),
        "your picture is expensive",
        "ton image est chère",
        "0-0 1-1 2-2 3-3",
    ),
    (
        say(nouns("story"), be("sad", "past", negated=True)),
        "the stories were not sad",
        "les histoires n'étaient pas tristes",
        "0-0 1-1 3?2 2-3 3-4 4-5",
    ),
    (
        say(None, act("turn off", "command", nouns("light"))),
        "turn off the lights",
        "éteins les lumières",
        "0-0 1?0 2-1 3-2",
    ),
    (
        say(None, act("open", "command", noun("door"), negated=True)),
        "do not open the door",
        "n'ouvre pas la porte",
        "0?0 1?0 0?1 2-1 0?2 1-2 3-3 4-4",
    ),
    (
        say(None, act("go", "command", goal=phrase("to", noun("park")))),
        "go to the park",
        "va au parc",
        "0-0 1-1 2?1 3-2",
    ),
    (
        say("david", act("turn on", "can", noun("computer"))),
        "david can turn on the computer",
        "david peut allumer l'ordinateur",
        "0-0 1-1 2-2 3?2 4-3 5-4",
    ),
    (
        say(
            noun("woman", "the", relative=RelativeClause(act("see", target=Name("paul")))),
            act("work", "present", modifiers=(TimeAdverb("every day"),)),
        ),
        "the woman who sees paul works every day",
        "la femme qui voit paul travaille chaque jour",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7",
    ),
    (
        say(noun("dog", "the", relative=RelativeClause(act("love"), Pronoun("he"))), be("sick")),
        "the dog that he loves is sick",
        "le chien qu'il aime est malade",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6",
    ),
    (
        say("amit", act("look for", "past", nouns("key", "the", relative=RelativeClause(be("heavy"))))),
        "amit looked for the keys that are heavy",
        "amit a cherché les clés qui sont lourdes",
        "0-0 1?1 1-2 2?2 3-3 4-4 5-5 6-6 7-7",
    ),
    (
        report("sara", "past", say("amit", act("work"))),
        "sara said that amit works",
        "sara a dit qu'amit travaille",
        "0-0 1?1 1-2 2-3 3-4 4-5",
    ),
    (
        join(say("jane", act("sleep")), "because", say("i", act("play", "past", modifiers=(TimeAdverb("yesterday"),)))),
        "jane sleeps because i played yesterday",
        "jane dort parce que j'ai joué hier",
        "0-0 1-1 2-2 2?3 3-4 4?5 4-6 5-7",
    ),
    (
        say(
            "i", act("taste", "past", nouns("mango", "two")), act("call", "past", Name("tom"), negated=True), last="but"
        ),
        "i tasted two mangoes but did not call tom",
        "j'ai goûté deux mangues mais n'ai pas appelé tom",
        "0-0 1?1 1-2 2-3 3-4 4-5 5?6 6?6 5?7 7?7 5?8 6-8 7-9 8-10",
    ),
    (
        say(
            "you",
            act("clean", "present", nouns("table", "three")),
            act("close", "present", noun("box", "a")),
            act("tell", "present", nouns("story", "none")),
        ),
        "you clean three tables, close a box and tell stories",
        "tu nettoies trois tables, fermes une boîte et racontes des histoires",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-9 10?10 10-11",
    ),
]


@pytest.mark.parametrize(("tree", "english", "french", "links"), CASES, ids=[case[1] for case in CASES])
def test_french_by_hand(tree: Sentence, english: str, french: str, links: str) -> None:
    pair = said("en-fr", tree)
    assert pair.source == english
    assert pair.target == french
    assert gold(pair) == links


@pytest.mark.parametrize(("tree", "english", "french", "links"), CASES, ids=[case[2] for case in CASES])
def test_english_from_french(tree: Sentence, english: str, french: str, links: str) -> None:
    pair = said("fr-en", tree)
    assert (pair.source, pair.target) == (french, english)
    assert pair.links is not None
    assert pair.links.flipped() == said("en-fr", tree).links
