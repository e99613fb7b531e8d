"""Texts in many scripts for the parity of the browser's tokenizers, and tokenizers of every kind that read them."""

import unicodedata
from random import Random

from regard.data import phrasebook
from regard.text.normalise import Normaliser
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig

SENTENCES = (
    "Where have you hidden my car keys? I don't know — ask Tom's sister.",
    "L'été dernier, j'ai vu l'ami d'Aurélie jusqu'à Qu'elle part aujourd'hui !",
    "¿Dónde está la biblioteca? ¡No lo sé! Él cuesta 3,50 € o $4.75.",
    "Der Fußgänger überquerte die Straße; es war 12:30 Uhr, „sehr spät“.",
    "Он сказал: «Привет, мир!» — и ушёл в 7.05.",
    "Η ΓΑΤΑ ΤΟΥ ΟΔΥΣΣΕΑΣ ΚΟΙΜΆΤΑΙ ΕΔΏ.",
    "बत्ती जल रही है। क्या तुम मेरी किताब लाए हो?",
    "আমি বাংলায় গান গাই। তুমি কোথায় যাও?",
    "நான் ஒரு புத்தகம் படிக்கிறேன்.",
    "القطة السوداء جلست على السجادة؛ أين المفتاح؟",
    "החתול השחור ישב על השטיח, נכון?",
    "我喜欢喝茶，你呢？今天是2026年11月。",
    "私は東京へ行きます。カフェで「コーヒー」を飲む！",
    "나는 학교에 갑니다. 오늘은 날씨가 좋아요!",
    "แมวดำนั่งอยู่บนเสื่อ",
    "Tôi không biết tiếng Việt; bạn có khoẻ không?",
    "İstanbul'da IĞDIR ve ılık su var.",
    "O'Neil's rendez-vous at 5 o'clock: 1,234.56 km/h (approx.) [sic] {x} a_b @home #tag 50%",
    "👩‍👩‍👧 🇫🇷🇮🇳 👍🏽 café cafe\u0301 ﬁne Å Å ① ２０２６ ½ x² ™ … ‽",
    "a\u00adb\u200bc\u200dd\u200ce\ufefff\u202ag ▁h ⁇ <s> </s> <unk> <pad> \t\x1cq\x85r\u2028s\u3000t",
    "   ",
    "",
    ".",
    "...",
    "'",
    "''' l' d'' dogs' 'tis",
    "𝒜𝓁𝓅𝒽𝒶 𐍈𐌰 𠀀𠀁 नि\u200dत्य क्\u200cष ज़",
)
_BLOCKS = (
    (0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x5FF),
    (0x600, 0x6FF), (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF), (0xE00, 0xE7F), (0x1100, 0x11FF),
    (0x1E00, 0x1EFF), (0x1F00, 0x1FFF), (0x2000, 0x206F), (0x20A0, 0x20BF), (0x2100, 0x214F), (0x2190, 0x21FF),
    (0x3000, 0x30FF), (0x4E00, 0x4EFF), (0xAC00, 0xACFF), (0xFB00, 0xFB06), (0xFF00, 0xFFEF), (0x1F300, 0x1F64F),
)  # fmt: skip


def texts(count: int = 2000) -> list[str]:
    """Sentences, phrasebook sentences of four languages, and random mixtures of blocks of Unicode."""
    random = Random(15)
    found = list(SENTENCES)
    for pair in phrasebook.PAIRS:
        for one in phrasebook.showcase(pair):
            found += [one.source, one.target.capitalize() + "."]
    found += [one.upper() for one in found[::9]] + [f"“{one}” „{one}“" for one in found[::9]]
    while len(found) < count:
        kind = random.random()
        if kind < 0.4:
            words = [word for one in random.sample(SENTENCES, 3) for word in one.split()]
            found.append(" ".join(random.sample(words, min(len(words), random.randint(1, 12)))))
        elif kind < 0.6:
            one = list(random.choice(SENTENCES) or "x")
            for _ in range(random.randint(1, 4)):
                one[random.randrange(len(one))] = _character(random)
            found.append("".join(one))
        else:
            blocks = random.sample(_BLOCKS, 3)
            found.append("".join(_character(random, *blocks) for _ in range(random.randint(1, 40))))
    return found[:count]


def _character(random: Random, *blocks: tuple[int, int]) -> str:
    while True:
        one = chr(random.randint(*random.choice(blocks or _BLOCKS)))
        if unicodedata.category(one) != "Cn":  # what Python does not know yet, a browser may
            return one


def tokenizers() -> dict[str, Tokenizer]:
    """One of every kind, with every form and option of normalising among them."""
    some = texts(600)

    def train(**config: object) -> Tokenizer:
        return Tokenizer.train(some, TokenizerConfig.model_validate(config))

    return {
        "word": train(kind="word", minimum_count=2, normalise=Normaliser(lowercase=True, drop_final_stop=True)),
        "word-spaces": train(kind="word", words="spaces", normalise=Normaliser(apostrophes=False)),
        "character": train(kind="character", vocabulary=120),
        "character-spaces": train(kind="character", words="spaces", normalise=Normaliser(form="NFD")),
        "bpe": train(kind="bpe", vocabulary=3000, normalise=Normaliser(form="NFKC", lowercase=True)),
        "bpe-spaces": train(kind="bpe", vocabulary=3000, words="spaces"),
        "unigram": train(kind="unigram", vocabulary=3000),
        "unigram-nfd": train(kind="unigram", vocabulary=2500, normalise=Normaliser(form="NFD", lowercase=True)),
    }
