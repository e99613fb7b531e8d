"""How French says each English lemma: gender and plural of nouns, four forms of adjectives, the forms of verbs."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Noun:
    singular: str
    plural: str
    feminine: bool


def _nouns(rows: str, feminine: bool) -> dict[str, Noun]:
    """Rows `english french [plural]`; the plural ends in -s where none is given."""
    nouns = {}
    for row in rows.split("\n"):
        if row.strip():
            lemma, singular, *plural = row.split()
            nouns[lemma] = Noun(singular, plural[0] if plural else singular + "s", feminine)
    return nouns


NOUNS: Final = {
    **_nouns(
        """
        man homme
        boy garçon
        child enfant
        teacher professeur
        doctor médecin
        friend ami
        neighbor voisin
        student étudiant
        brother frère
        cat chat
        dog chien
        bird oiseau oiseaux
        horse cheval chevaux
        monkey singe
        elephant éléphant
        book livre
        gift cadeau cadeaux
        newspaper journal journaux
        boat bateau bateaux
        bed lit
        mat tapis tapis
        bench banc
        computer ordinateur
        cake gâteau gâteaux
        egg œuf
        vegetable légume
        dish plat
        bread pain
        fish poisson
        cheese fromage
        rice riz riz
        milk lait
        tea thé
        coffee café
        juice jus jus
        garden jardin
        park parc
        museum musée
        market marché
        village village
        temple temple
        hotel hôtel
        """,
        feminine=False,
    ),
    **_nouns(
        """
        woman femme
        girl fille
        sister sœur
        cow vache
        letter lettre
        key clé
        picture image
        flower fleur
        car voiture
        table table
        chair chaise
        door porte
        window fenêtre
        box boîte
        light lumière
        lamp lampe
        radio radio
        television télévision
        apple pomme
        mango mangue
        water eau eaux
        house maison
        school école
        city ville
        station gare
        church église
        forest forêt
        story histoire
        """,
        feminine=True,
    ),
}


@dataclass(frozen=True)
class Adjective:
    """`liaison` is the masculine singular before a vowel."""

    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    liaison: str

    def form(self, feminine: bool, plural: bool) -> str:
        if plural:
            return self.feminine_plural if feminine else self.masculine_plural
        return self.feminine if feminine else self.masculine


def _adjective(masculine: str, feminine: str, masculine_plural: str = "", liaison: str = "") -> Adjective:
    return Adjective(masculine, feminine, masculine_plural or masculine + "s", feminine + "s", liaison or masculine)


ADJECTIVES: Final = {
    "big": _adjective("grand", "grande"),
    "small": _adjective("petit", "petite"),
    "old": _adjective("vieux", "vieille", "vieux", "vieil"),
    "new": _adjective("nouveau", "nouvelle", "nouveaux", "nouvel"),
    "beautiful": _adjective("beau", "belle", "beaux", "bel"),
    "young": _adjective("jeune", "jeune"),
    "good": _adjective("bon", "bonne"),
    "black": _adjective("noir", "noire"),
    "white": _adjective("blanc", "blanche"),
    "red": _adjective("rouge", "rouge"),
    "green": _adjective("vert", "verte"),
    "happy": _adjective("heureux", "heureuse", "heureux"),
    "sad": _adjective("triste", "triste"),
    "famous": _adjective("célèbre", "célèbre"),
    "sick": _adjective("malade", "malade"),
    "rich": _adjective("riche", "riche"),
    "expensive": _adjective("cher", "chère"),
    "heavy": _adjective("lourd", "lourde"),
    "hot": _adjective("chaud", "chaude"),
    "cold": _adjective("froid", "froide"),
    "quiet": _adjective("calme", "calme"),
}
SEATED: Final = Adjective("assis", "assise", "assis", "assises", "assis")


@dataclass(frozen=True)
class Verb:
    """`present` holds je, tu, il, ils. With `être` the participle agrees with the subject."""

    present: tuple[str, str, str, str]
    infinitive: str
    participle: str
    être: bool = False
    preposition: str | None = None
    command: str = ""

    @property
    def imperative(self) -> str:
        return self.command or self.present[0]

    def agreed(self, feminine: bool, plural: bool) -> str:
        return self.participle + "e" * feminine + "s" * plural


def _regular(stem: str, weak: str = "", être: bool = False, preposition: str | None = None) -> Verb:
    """A verb in -er; `weak` is the stem of infinitive and participle where it is another one."""
    weak = weak or stem
    present = (stem + "e", stem + "es", stem + "e", stem + "ent")
    return Verb(present, weak + "er", weak + "é", être, preposition)


VERBS: Final = {
    "visit": _regular("visit"),
    "explore": _regular("explor"),
    "see": Verb(("vois", "vois", "voit", "voient"), "voir", "vu"),
    "love": _regular("aim"),
    "eat": _regular("mang"),
    "drink": Verb(("bois", "bois", "boit", "boivent"), "boire", "bu"),
    "buy": _regular("achèt", "achet"),
    "taste": _regular("goût"),
    "prepare": _regular("prépar"),
    "open": Verb(("ouvre", "ouvres", "ouvre", "ouvrent"), "ouvrir", "ouvert"),
    "close": _regular("ferm"),
    "turn off": Verb(("éteins", "éteins", "éteint", "éteignent"), "éteindre", "éteint"),
    "turn on": _regular("allum"),
    "look for": _regular("cherch"),
    "wait for": Verb(("attends", "attends", "attend", "attendent"), "attendre", "attendu"),
    "clean": _regular("nettoi", "nettoy"),
    "help": _regular("aid"),
    "call": _regular("appell", "appel"),
    "meet": _regular("rencontr"),
    "tell": _regular("racont"),
    "give": _regular("donn"),
    "show": _regular("montr"),
    "talk to": _regular("parl", preposition="à"),
    "sleep": Verb(("dors", "dors", "dort", "dorment"), "dormir", "dormi"),
    "work": _regular("travaill"),
    "dance": _regular("dans"),
    "play": _regular("jou"),
    "travel": _regular("voyag"),
    "go": Verb(("vais", "vas", "va", "vont"), "aller", "allé", être=True, command="va"),
    "arrive": _regular("arriv", être=True),
    "say": Verb(("dis", "dis", "dit", "disent"), "dire", "dit"),
}
WANT: Final = ("veux", "veux", "veut", "veulent")
CAN: Final = ("peux", "peux", "peut", "peuvent")
AVOIR: Final = ("ai", "as", "a", "ont")
ÊTRE: Final = ("suis", "es", "est", "sont")
WAS: Final = ("étais", "étais", "était", "étaient")

FEMININE_COUNTRIES: Final = {"africa": "afrique", "france": "france", "italy": "italie", "india": "inde"}
MASCULINE_COUNTRIES: Final = {"japan": "japon", "canada": "canada", "brazil": "brésil"}
PLURAL_COUNTRIES: Final = {"united states": "états-unis"}
CITIES: Final = {"paris": "paris", "london": "londres", "berlin": "berlin"}
MONTHS: Final = {
    "january": "janvier",
    "february": "février",
    "march": "mars",
    "april": "avril",
    "may": "mai",
    "june": "juin",
    "july": "juillet",
    "august": "août",
    "september": "septembre",
    "october": "octobre",
    "november": "novembre",
    "december": "décembre",
}
SUBJECTS: Final = {"i": "je", "you": "tu", "he": "il", "she": "elle", "they": "ils"}
OBJECTS: Final = {"me": "me", "you": "te", "him": "le", "her": "la", "them": "les"}
POSSESSIVES: Final = {"my": ("mon", "ma", "mes"), "your": ("ton", "ta", "tes")}
NUMBERS: Final = {"two": "deux", "three": "trois"}
PREPOSITIONS: Final = {"in": "dans", "on": "sur", "under": "sous", "with": "avec", "to": "à", "at": "à"}
MOMENTS: Final = {
    "yesterday": ("hier",),
    "tomorrow": ("demain",),
    "now": ("maintenant",),
    "every day": ("chaque", "jour"),
}
ADVERBS: Final = {"often": "souvent", "always": "toujours"}
CONNECTORS: Final = {"and": "et", "but": "mais", "because": "parce"}
