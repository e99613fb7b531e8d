"""How Hindi says each English lemma: nouns by case and number, adjectives by gender, pronouns, names.

A form that the spelling dictionary (Debian's hunspell-hi) does not know is left out as `-`;
sentences that would need it are never made.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

MISSING: Final = "-"


@dataclass(frozen=True)
class Noun:
    """Direct and oblique (before a postposition), singular and plural."""

    direct: str
    directs: str
    oblique: str
    obliques: str
    feminine: bool

    def form(self, oblique: bool, plural: bool) -> str:
        if oblique:
            return self.obliques if plural else self.oblique
        return self.directs if plural else self.direct


def rows(text: str) -> list[list[str]]:
    """A table in composed Unicode (NFC), line by line and word by word."""
    return [row.split() for row in unicodedata.normalize("NFC", text).split("\n") if row.strip()]


def _nouns(text: str, feminine: bool) -> dict[str, Noun]:
    """Rows `english direct directs oblique obliques`."""
    return {row[0]: Noun(row[1], row[2], row[3], row[4], feminine) for row in rows(text)}


NOUNS: Final = {
    **_nouns(
        """
        man        आदमी     आदमी      आदमी     आदमियों
        boy        लड़का     लड़के      लड़के     लड़कों
        child      बच्चा     बच्चे      बच्चे     बच्चों
        teacher    शिक्षक    शिक्षक     शिक्षक    शिक्षकों
        doctor     डॉक्टर    डॉक्टर     डॉक्टर    डॉक्टरों
        friend     दोस्त     दोस्त      दोस्त     दोस्तों
        neighbor   पड़ोसी    पड़ोसी     पड़ोसी    पड़ोसियों
        student    छात्र     छात्र      छात्र     छात्रों
        brother    भाई      भाई       भाई      भाइयों
        dog        कुत्ता     कुत्ते      कुत्ते     कुत्तों
        horse      घोड़ा     घोड़े      घोड़े     घोड़ों
        monkey     बंदर     बंदर      बंदर     बंदरों
        elephant   हाथी     हाथी      हाथी     हाथियों
        letter     पत्र      पत्र       पत्र      पत्रों
        flower     फूल      फूल       फूल      फूलों
        gift       उपहार    उपहार     उपहार    -
        newspaper  अख़बार    अख़बार     अख़बार    अख़बारों
        bed        बिस्तर    बिस्तर     बिस्तर    -
        door       दरवाज़ा   दरवाज़े    दरवाज़े   दरवाज़ों
        box        डिब्बा    डिब्बे      डिब्बे     -
        computer   कंप्यूटर   कंप्यूटर    कंप्यूटर   कंप्यूटरों
        radio      रेडियो    रेडियो     रेडियो    -
        television टीवी     टीवी      टीवी     -
        mango      आम      आम       आम      -
        egg        अंडा     अंडे       अंडे      -
        water      पानी     -         पानी     -
        milk       दूध      -         दूध      -
        juice      रस       -         रस       -
        house      घर       घर        घर       घरों
        garden     बाग़      बाग़       बाग़      -
        park       पार्क     पार्क      पार्क     -
        school     स्कूल     स्कूल      स्कूल     स्कूलों
        museum     संग्रहालय  संग्रहालय   संग्रहालय  संग्रहालयों
        market     बाज़ार    बाज़ार     बाज़ार    बाज़ारों
        station    स्टेशन    स्टेशन     स्टेशन    स्टेशनों
        temple     मंदिर     मंदिर      मंदिर     मंदिरों
        church     चर्च      चर्च       चर्च      -
        hotel      होटल     होटल      होटल     होटलों
        village    गाँव      गाँव       गाँव      गाँवों
        city       शहर      शहर       शहर      शहरों
        forest     जंगल     जंगल      जंगल     जंगलों
        """,
        feminine=False,
    ),
    **_nouns(
        """
        woman      महिला    महिलाएँ    महिला    महिलाओं
        girl       लड़की     लड़कियाँ   लड़की     लड़कियों
        sister     बहन      -         बहन      बहनों
        cat        बिल्ली    -         बिल्ली    बिल्लियों
        bird       चिड़िया   -         चिड़िया   चिड़ियों
        cow        गाय      -         गाय      -
        book       किताब    किताबें    किताब    किताबों
        key        चाबी     -         चाबी     -
        picture    तस्वीर    तस्वीरें    तस्वीर    तस्वीरों
        car        गाड़ी     गाड़ियाँ   गाड़ी     गाड़ियों
        boat       नाव      नावें      नाव      नावों
        table      मेज़      -         मेज़      -
        chair      कुर्सी    -         कुर्सी    -
        mat        चटाई     -         चटाई     -
        bench      बेंच      -         बेंच      -
        window     खिड़की   -         खिड़की   -
        light      लाइट     लाइट      लाइट     -
        lamp       बत्ती     -         बत्ती     -
        vegetable  सब्ज़ी    सब्ज़ियाँ   सब्ज़ी    -
        bread      रोटी     -         रोटी     -
        fish       मछली     -         मछली     -
        tea        चाय      -         चाय      -
        coffee     कॉफी     -         कॉफी     -
        story      कहानी    कहानियाँ   कहानी    कहानियों
        """,
        feminine=True,
    ),
}


@dataclass(frozen=True)
class Adjective:
    """`masculine` is direct singular, `oblique` every other masculine form."""

    masculine: str
    oblique: str
    feminine: str

    def form(self, feminine: bool, other: bool) -> str:
        """`other`: plural, or before a postposition."""
        return self.feminine if feminine else self.oblique if other else self.masculine


def _adjectives(text: str) -> dict[str, Adjective]:
    """Rows `english masculine oblique feminine`, or one form for all."""
    return {row[0]: Adjective(*(row[1:] if len(row) == 4 else row[1:] * 3)) for row in rows(text)}


ADJECTIVES: Final = _adjectives(
    """
    big        बड़ा   बड़े   बड़ी
    small      छोटा  छोटे  छोटी
    old        पुराना पुराने पुरानी
    aged       बुज़ुर्ग
    new        नया   नए   नई
    beautiful  सुंदर
    young      जवान
    good       अच्छा  अच्छे  अच्छी
    black      काला  काले  काली
    white      सफ़ेद
    red        लाल
    green      हरा   हरे   हरी
    happy      ख़ुश
    sad        उदास
    famous     मशहूर
    sick       बीमार
    rich       अमीर
    expensive  महँगा  महँगे  महँगी
    heavy      भारी
    hot        गर्म
    cold       ठंडा  ठंडे  ठंडी
    quiet      शांत
    my         मेरा   मेरे   मेरी
    your       तुम्हारा तुम्हारे -
    own        अपना  अपने  अपनी
    sitting    बैठा  बैठे  बैठी
    about      वाला  वाले  वाली
    able       सकता सकते सकती
    wanting    चाहता चाहते चाहती
    was        था   थे   थी
    """
)

SUBJECTS: Final = {"i": "मैं", "you": "तुम", "he": "वह", "she": "वह", "they": "वे"}
AGENTS: Final = {"i": "मैंने", "you": "तुमने", "he": "उसने", "she": "उसने", "they": "उन्होंने"}
OBJECTS: Final = {
    "को": {"me": "मुझे", "you": "तुम्हें", "him": "उसे", "her": "उसे", "them": "उन्हें"},
    "से": {"me": "मुझसे", "you": "तुमसे", "him": "उससे", "her": "उससे", "them": "उनसे"},
    "का": {"me": "मेरा", "you": "तुम्हारा", "him": "उसका", "her": "उसका", "them": "उनका"},
    "की": {"me": "मेरी", "you": MISSING, "him": "उसकी", "her": "उसकी", "them": "उनकी"},
}
RELATIVES: Final = {
    "direct": ("जो", "जो"),
    "ने": ("जिसने", "जिन्होंने"),
    "को": ("जिसे", "जिन्हें"),
    "से": ("जिससे", "जिनसे"),
}
"""`who`, `that` by case, singular and plural; verbs with का or की have no relative clause of their own."""

NAMES: Final = {
    "jane": "जेन",
    "maria": "मारिया",
    "sara": "सारा",
    "lucy": "लूसी",
    "meera": "मीरा",
    "michael": "माइकल",
    "paul": "पॉल",
    "tom": "टॉम",
    "david": "डेविड",
    "amit": "अमित",
}
PLACES: Final = {
    "africa": "अफ़्रीका",
    "france": "फ़्रांस",
    "italy": "इटली",
    "india": "भारत",
    "japan": "जापान",
    "canada": "कनाडा",
    "brazil": "ब्राज़ील",
    "united states": "अमेरिका",
    "paris": "पेरिस",
    "london": "लंदन",
    "berlin": "बर्लिन",
    "january": "जनवरी",
    "february": "फ़रवरी",
    "march": "मार्च",
    "april": "अप्रैल",
    "may": "मई",
    "june": "जून",
    "july": "जुलाई",
    "august": "अगस्त",
    "september": "सितंबर",
    "october": "अक्टूबर",
    "november": "नवंबर",
    "december": "दिसंबर",
}
MOMENTS: Final = {"yesterday": "कल", "tomorrow": "कल", "now": "अब"}
ADVERBS: Final = {"often": "अक्सर", "always": "हमेशा"}
NUMBERS: Final = {"a": "एक", "two": "दो", "three": "तीन", "many": "कई"}
CONNECTORS: Final = {"and": "और", "but": "लेकिन", "because": "क्योंकि"}
