"""Hindi verbs: their forms, and how each English verb is said with them and their companions."""

from dataclasses import dataclass
from typing import Final

from regard.data.phrasebook.lexicon.hindi import rows


@dataclass(frozen=True)
class Verb:
    """`habitual` m, mm, f; `perfective` m, mm, f, ff; a form may be two words (खोल देता), then it is never negated."""

    habitual: tuple[str, str, str]
    perfective: tuple[str, str, str, str]
    infinitive: str
    oblique: str
    stem: str
    imperative: str


def _verbs(text: str) -> dict[str, Verb]:
    """Rows `name habitual×3 perfective×4 infinitive oblique stem imperative`, `_` for a space."""
    verbs = {}
    for name, *forms in rows(text):
        spaced = [form.replace("_", " ") for form in forms]
        verbs[name] = Verb((spaced[0], spaced[1], spaced[2]), (spaced[3], spaced[4], spaced[5], spaced[6]), *spaced[7:])
    return verbs


CONJUGATED: Final = _verbs(
    """
    do     करता करते करती       किया किए की कीं          करना करने कर करो
    give   देता देते देती          दिया दिए दी दीं           देना देने दे दो
    take   लेता लेते लेती         लिया लिए ली लीं          लेना लेने ले लो
    see    देखता देखते देखती     देखा देखे देखी देखीं        देखना देखने देख देखो
    say    कहता कहते कहती      कहा कहे कही कहीं         कहना कहने कह कहो
    go     जाता जाते जाती       गया गए गई गईं          जाना जाने जा जाओ
    arrive पहुँचता पहुँचते पहुँचती  पहुँचा पहुँचे पहुँची पहुँचीं  पहुँचना पहुँचने पहुँच -
    meet   मिलता मिलते मिलती    मिला मिले मिली मिलीं       मिलना मिलने मिल -
    show   दिखाता दिखाते दिखाती  दिखाया दिखाए दिखाई दिखाईं  दिखाना दिखाने दिखा -
    eat    खाता खाते -          खाया खाए खाई खा_लीं      खाना खाने खा खा_लो
    drink  पीता - पीती          पी_लिया पी_लिए पी_ली पी_लीं पीना पीने पी पी_लो
    buy    ख़रीद_लेता ख़रीद_लेते ख़रीद_लेती ख़रीदा ख़रीदे ख़रीदी - ख़रीद_लेना ख़रीदने ख़रीद ख़रीद_लो
    open   खोल_देता खोल_देते खोल_देती खोला खोले खोली - खोल_देना खोलने खोल खोल_दो
    sleep  सो_जाता सो_जाते सो_जाती सो_गया सो_गए सो_गई सो_गईं सो_जाना सो_जाने सो -
    """
)


@dataclass(frozen=True)
class Use:
    """How a verb is said: `companion` stands before the conjugated verb (काम करना); `case` is the object's.

    `direct` takes no postposition, `animate` को for the living only, the others always को, से, का or की.
    `noun`: the companion is what the past agrees with. `ergative`: the subject of the past takes ने.
    """

    verb: str
    case: str = "direct"
    companion: str = ""
    noun: bool = False
    ergative: bool = True

    @property
    def feminine(self) -> bool:
        return self.companion in FEMININE_COMPANIONS


FEMININE_COMPANIONS: Final = frozenset(["सैर", "तलाश", "मदद", "बात", "यात्रा"])
VERBS: Final = {
    "visit": Use("do", "का", "दौरा", noun=True),
    "explore": Use("do", "की", "सैर", noun=True),
    "see": Use("see", "animate"),
    "love": Use("do", "से", "प्यार", noun=True),
    "eat": Use("eat"),
    "drink": Use("drink"),
    "buy": Use("buy"),
    "taste": Use("take", "का", "स्वाद", noun=True),
    "prepare": Use("do", companion="तैयार"),
    "open": Use("open"),
    "close": Use("do", companion="बंद"),
    "turn off": Use("do", companion="बंद"),
    "turn on": Use("do", companion="चालू"),
    "look for": Use("do", "की", "तलाश", noun=True),
    "wait for": Use("do", "का", "इंतज़ार", noun=True),
    "clean": Use("do", companion="साफ़"),
    "help": Use("do", "की", "मदद", noun=True),
    "call": Use("do", "को", "फ़ोन", noun=True),
    "meet": Use("meet", "से", ergative=False),
    "tell": Use("say"),
    "give": Use("give"),
    "show": Use("show"),
    "talk to": Use("do", "से", "बात", noun=True),
    "sleep": Use("sleep", ergative=False),
    "work": Use("do", companion="काम", noun=True),
    "dance": Use("do", companion="नृत्य", noun=True),
    "travel": Use("do", "की", "यात्रा", noun=True),
    "go": Use("go", ergative=False),
    "arrive": Use("arrive", ergative=False),
    "say": Use("say"),
}
