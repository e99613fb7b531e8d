"""Hindi sentences checked by hand: postpositions, cases, ने, agreement, light verbs, relative clauses."""

from typing import Any

import pytest

from regard.data.phrasebook.corpus import language
from regard.data.phrasebook.tree import Coordination, Name, Pronoun, RelativeClause, Sentence, TimeAdverb

from .trees import act, be, country, gold, join, month, noun, nouns, phrase, report, said, say

CASES: list[Any] = [
    (
        say(None, act("turn off", "command", nouns("light"))),
        "turn off the lights",
        "लाइट बंद करो",
        "2?0 3-0 0?1 1-1 0?2 1?2",
    ),
    (
        say("i", act("love", target=Pronoun("you"))),
        "i love you",
        "मैं तुमसे प्यार करता हूँ",
        "0-0 2-1 1-2 1?3 0?4 1?4",
    ),
    (
        say(noun("cat", after="black"), act("sit", "past", goal=phrase("on", noun("mat")))),
        "the black cat sat on the mat",
        "काली बिल्ली चटाई पर बैठी थी",
        "1-0 0?1 2-1 5?2 6-2 4-3 3-4 2?5 3?5",
    ),
    (
        say(nouns("boy"), act("sit", goal=phrase("under", noun("table")))),
        "the boys sit under the table",
        "लड़के मेज़ के नीचे बैठे हैं",
        "0?0 1-0 4?1 5-1 3-2 3-3 2-4 1?5 2?5",
    ),
    (
        say("michael", act("visit", "present", country("italy"), modifiers=(month("april"),))),
        "michael visits italy in april",
        "माइकल अप्रैल में इटली का दौरा करता है",
        "0-0 4-1 3-2 2-3 1?4 2?4 1-5 1?6 0?7 1?7",
    ),
    (
        say(noun("boy"), act("see", "past", nouns("book", "two"))),
        "the boy saw two books",
        "लड़के ने दो किताबें देखीं",
        "0?0 1-0 1?1 2?1 3-2 4-3 2-4",
    ),
    (
        say(nouns("boy"), act("see", "past", nouns("child"))),
        "the boys saw the children",
        "लड़कों ने बच्चों को देखा",
        "0?0 1-0 1?1 2?1 3?2 4-2 2?3 4?3 2-4",
    ),
    (
        say("jane", act("buy", "past", noun("letter", "a"))),
        "jane bought a letter",
        "जेन ने एक पत्र ख़रीदा",
        "0-0 0?1 1?1 2-2 3-3 1-4",
    ),
    (
        say("jane", act("buy", "past", nouns("newspaper", "many"), negated=True)),
        "jane did not buy many newspapers",
        "जेन ने कई अख़बार नहीं ख़रीदे",
        "0-0 0?1 1?1 3?1 4-2 5-3 1?4 2-4 1?5 3-5",
    ),
    (
        say("tom", act("give", "past", noun("picture", "my"), goal=phrase("to", noun("doctor")))),
        "tom gave my picture to the doctor",
        "टॉम ने डॉक्टर को मेरी तस्वीर दी",
        "0-0 0?1 1?1 5?2 6-2 4-3 2-4 3-5 1-6",
    ),
    (
        say("i", act("give", "past", noun("picture", "my"), goal=phrase("to", noun("doctor", "your")))),
        "i gave my picture to your doctor",
        "मैंने तुम्हारे डॉक्टर को अपनी तस्वीर दी",
        "0-0 5-1 6-2 4-3 2-4 3-5 1-6",
    ),
    (
        say("you", act("sleep", "present", modifiers=(phrase("in", noun("house", "your")),))),
        "you sleep in your house",
        "तुम अपने घर में सो जाते हो",
        "0-0 3-1 4-2 2-3 1-4 1?5 0?6 1?6",
    ),
    (
        say("they", act("go", "past", goal=phrase("to", noun("market")), modifiers=(TimeAdverb("yesterday"),))),
        "they went to the market yesterday",
        "वे कल बाज़ार गए",
        "0-0 5-1 3?2 4-2 1-3 2?3",
    ),
    (
        say("she", act("arrive", "past", goal=phrase("at", noun("school")))),
        "she arrived at the school",
        "वह स्कूल पहुँची",
        "0-0 3?1 4-1 1-2 2?2",
    ),
    (
        say("she", act("travel", "going", goal=phrase("to", country("united states")), negated=True)),
        "she is not going to travel to the united states",
        "वह अमेरिका की यात्रा करने वाली नहीं है",
        "0-0 7?1 8?1 9-1 6?2 9?2 5-3 3?4 4?4 5?4 6?4 1?5 3-5 4?5 2-6 0?7 1-7 3?7",
    ),
    (
        say("he", act("help", "want", Pronoun("me"), negated=True)),
        "he does not want to help me",
        "वह मेरी मदद करना नहीं चाहता है",
        "0-0 6-1 5-2 1?3 3?3 4?3 5?3 1?4 2-4 3-5 4?5 0?6 1?6 3?6",
    ),
    (
        say("he", act("open", "can", noun("window"), negated=True)),
        "he cannot open the window",
        "वह खिड़की नहीं खोल सकता है",
        "0-0 3?1 4-1 1-2 2-3 1-4 0?5 1?5",
    ),
    (
        say("they", act("meet", "past", Pronoun("her"))),
        "they met her",
        "वे उससे मिले",
        "0-0 2-1 1-2",
    ),
    (
        say("i", act("wait for", "present", Pronoun("them"), adverb="always")),
        "i always wait for them",
        "मैं हमेशा उनका इंतज़ार करता हूँ",
        "0-0 1-1 3?2 4-2 2-3 3?3 2?4 3?4 0?5 2?5 3?5",
    ),
    (
        say("sara", act("dance", "present", modifiers=(phrase("with", noun("sister", "my")), TimeAdverb("every day")))),
        "sara dances with my sister every day",
        "सारा हर दिन मेरी बहन के साथ नृत्य करती है",
        "0-0 5-1 6-2 3-3 4-4 2-5 2-6 1-7 1?8 0?9 1?9",
    ),
    (
        say("sara", act("talk to", "past", nouns("woman", "three", before="old"))),
        "sara talked to three old women",
        "सारा ने तीन बुज़ुर्ग महिलाओं से बात की",
        "0-0 0?1 1?1 3-2 4-3 5-4 2-5 5?5 1-6 2?6 1?7 2?7",
    ),
    (
        say(noun("house", "this"), be("old", "past")),
        "this house was old",
        "यह घर पुराना था",
        "0-0 1-1 3-2 2-3",
    ),
    (
        say(nouns("girl"), be("happy", negated=True)),
        "the girls are not happy",
        "लड़कियाँ ख़ुश नहीं हैं",
        "0?0 1-0 4-1 3-2 2-3",
    ),
    (
        say(None, act("close", "command", noun("door"), negated=True)),
        "do not close the door",
        "दरवाज़ा बंद मत करो",
        "3?0 4-0 2-1 0?2 1-2 0?3 2?3",
    ),
    (
        say(noun("boy", "the", before="small", relative=RelativeClause(act("sleep"))), act("see", "past", noun("dog"))),
        "the small boy who sleeps saw the dog",
        "उस छोटे लड़के ने जो सो जाता है कुत्ते को देखा",
        "0-0 3?0 1-1 2-2 2?3 5?3 3-4 4-5 4?6 2?7 4?7 6?8 7-8 5?9 7?9 5-10",
    ),
    (
        say(
            "jane",
            act("see", "present", noun("woman", "the", relative=RelativeClause(act("help", "past", Name("tom"))))),
        ),
        "jane sees the woman who helped tom",
        "जेन उस महिला को देखती है जिसने टॉम की मदद की",
        "0-0 2-1 4?1 3-2 1?3 3?3 1-4 0?5 1?5 4-6 6-7 5?8 6?8 5-9 5?10",
    ),
    (
        say("jane", act("see", "present", nouns("man", "the", relative=RelativeClause(act("love"), Pronoun("she"))))),
        "jane sees the men that she loves",
        "जेन उन आदमियों को देखती है जिनसे वह प्यार करती है",
        "0-0 2-1 4?1 3-2 1?3 3?3 1-4 0?5 1?5 4-6 5-7 6-8 6?9 5?10 6?10",
    ),
    (
        say("jane", act("buy", "past", noun("book", "the", relative=RelativeClause(act("see"), Name("tom"))))),
        "jane bought the book that tom sees",
        "जेन ने वह किताब ख़रीदी जो टॉम देखता है",
        "0-0 0?1 1?1 2-2 4?2 3-3 1-4 4-5 5-6 6-7 5?8 6?8",
    ),
    (
        report("sara", "past", say("amit", act("work"))),
        "sara said that amit works",
        "सारा ने कहा कि अमित काम करता है",
        "0-0 0?1 1?1 1-2 2-3 3-4 4-5 4?6 3?7 4?7",
    ),
    (
        join(say("jane", act("sleep")), "because", say("i", act("prepare", "past", noun("egg", "your")))),
        "jane sleeps because i prepared your egg",
        "जेन सो जाती है क्योंकि मैंने तुम्हारा अंडा तैयार किया",
        "0-0 1-1 1?2 0?3 1?3 2-4 3-5 5-6 6-7 4-8 4?9",
    ),
    (
        say("michael", act("eat", "past", noun("mango", "a")), act("go", "past", goal=phrase("to", noun("station")))),
        "michael ate a mango and went to the station",
        "माइकल ने एक आम खाया और स्टेशन गया",
        "0-0 0?1 1?1 2-2 3-3 1-4 4-5 7?6 8-6 5-7 6?7",
    ),
    (
        say(Coordination(Name("jane"), noun("brother", "my")), act("clean", "past", noun("table", before="big"))),
        "jane and my brother cleaned the big table",
        "जेन और मेरे भाई ने बड़ी मेज़ साफ़ की",
        "0-0 1-1 2-2 3-3 3?4 4?4 6-5 5?6 7-6 4-7 4?8",
    ),
]


@pytest.mark.parametrize(("tree", "english", "hindi", "links"), CASES, ids=[case[1] for case in CASES])
def test_hindi_by_hand(tree: Sentence, english: str, hindi: str, links: str) -> None:
    pair = said("en-hi", tree)
    assert pair.source == english
    assert pair.target == hindi
    assert gold(pair) == links


@pytest.mark.parametrize(
    "tree",
    [
        say("she", act("eat", target=noun("mango", "a"))),
        say("jane", act("help", target=Pronoun("you"))),
        say("jane", act("open", negated=True, target=noun("door"))),
        say("jane", act("go", "past", goal=phrase("to", country("india"))), act("buy", "past", noun("book", "a"))),
    ],
    ids=["no form in the dictionary", "no pronoun in the dictionary", "two words are not negated", "ने comes too late"],
)
def test_sentences_without_a_hindi_form_are_skipped(tree: Sentence) -> None:
    assert language("en-hi").render(tree) is None
    with pytest.raises(ValueError, match="no words for"):
        said("en-hi", tree)
