"""What can be said, in English words: nouns by meaning, verbs with what they take, names, places and times.

Lemmas are the keys of the French and the Hindi lexicon; a pair speaks of what both its lexicons know.
"""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "person",
    "animal",
    "thing",
    "surface",
    "opening",
    "device",
    "dish",
    "food",
    "drink",
    "place",
    "area",
    "story",
]
"""The meaning of a noun decides what may be said of it: one goes to a place, not to an area; foods have no plural."""

MASSES: Final = frozenset(["food", "drink"])
NOUNS: Final[dict[Kind, tuple[str, ...]]] = {
    "person": (
        *("man", "woman", "boy", "girl", "child", "teacher", "doctor", "friend", "neighbor", "student"),
        *("brother", "sister"),
    ),
    "animal": ("cat", "dog", "bird", "horse", "cow", "monkey", "elephant"),
    "thing": ("book", "letter", "key", "picture", "flower", "gift", "car", "newspaper", "boat"),
    "surface": ("table", "chair", "bed", "mat", "bench"),
    "opening": ("door", "window", "box"),
    "device": ("light", "lamp", "computer", "radio", "television"),
    "dish": ("apple", "cake", "egg", "mango", "vegetable", "dish"),
    "food": ("bread", "fish", "cheese", "rice"),
    "drink": ("water", "milk", "tea", "coffee", "juice"),
    "place": ("house", "park", "school", "museum", "market", "station", "temple", "church", "hotel"),
    "area": ("village", "city", "forest", "garden"),
    "story": ("story",),
}
PLURALS: Final = {"man": "men", "woman": "women", "child": "children"}
OWNED: Final = frozenset(
    [
        *("teacher", "doctor", "friend", "neighbor", "student", "brother", "sister", "cat", "dog", "bird", "horse"),
        *("cow", "house", "garden", "school", "village", "city"),
        *(noun for kind in ("thing", "surface", "opening", "device", "dish", "story") for noun in NOUNS[kind]),
    ]
)
"""What may be mine or yours."""

BEFORE: Final[dict[Kind, tuple[str, ...]]] = {
    "person": ("young",),
    "animal": ("big", "small", "beautiful", "young"),
    "thing": ("big", "small", "old", "new", "beautiful"),
    "surface": ("big", "small", "old", "new", "beautiful"),
    "opening": ("big", "small", "old", "new"),
    "device": ("big", "small", "old", "new", "good"),
    "dish": ("good", "big", "small"),
    "food": ("good",),
    "drink": ("good",),
    "place": ("big", "small", "old", "new", "beautiful"),
    "area": ("big", "small", "old", "beautiful"),
    "story": ("good", "old", "new", "beautiful"),
}
"""Adjectives that stand before the French noun."""

CHILDREN: Final = frozenset(["boy", "girl", "child"])
PEERS: Final = frozenset(["teacher", "doctor", "friend", "neighbor", "student"])
AFTER: Final[dict[Kind, tuple[str, ...]]] = {
    "person": ("happy", "sad", "famous", "sick", "rich"),
    "animal": ("black", "white", "happy", "sick"),
    "thing": ("red", "green", "black", "white", "expensive", "heavy"),
    "surface": ("red", "green", "black", "white", "heavy"),
    "opening": ("red", "green", "black", "white", "heavy"),
    "device": ("expensive", "heavy", "black", "white"),
    "dish": ("hot", "cold", "expensive"),
    "food": ("hot", "cold", "expensive"),
    "drink": ("hot", "cold", "expensive"),
    "place": ("famous", "quiet"),
    "area": ("famous", "quiet"),
    "story": ("sad", "famous"),
}
"""Adjectives that stand after the French noun."""


def before(noun: str, kind: Kind) -> tuple[str, ...]:
    """The adjectives before this noun: a small friend, a good sister and an old boy mean other things in French."""
    if noun in CHILDREN:
        return ("small", "young")
    if noun in PEERS:
        return ("good", "old", "young")
    return ("old", "young") if noun in ("man", "woman") else BEFORE[kind]


UNSAID: Final = frozenset(["new"])
"""Adjectives that never follow `is`."""

NAMES: Final = {
    **dict.fromkeys(("jane", "maria", "sara", "lucy", "meera"), "feminine"),
    **dict.fromkeys(("michael", "paul", "tom", "david", "amit"), "masculine"),
}
COUNTRIES: Final = ("africa", "france", "italy", "india", "japan", "canada", "brazil", "united states")
CITIES: Final = ("paris", "london", "berlin")
MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
VOWELS: Final = frozenset("aeiou")


@dataclass(frozen=True)
class Verb:
    """How an English verb is spelt and what stands around it; `animals`: whether they can do it too."""

    base: str
    singular: str
    past: str
    objects: tuple[str, ...] = ()
    particle: str | None = None
    pronouns: bool = False
    definite: bool = False
    animals: bool = False
    command: bool = False
    place: bool = False
    company: bool = False
    goal: str | None = None

    @property
    def lemma(self) -> str:
        return f"{self.base} {self.particle}" if self.particle else self.base

    @property
    def simple(self) -> bool:
        """Whether it stands in present and past only: nobody is going to sit, wants to love."""
        return self.goal == "seat" or self.base == "love"

    def words(self) -> int:
        """The fewest words a phrase with this verb takes."""
        if self.goal:
            return {"seat": 4, "receiver": 5}.get(self.goal, 3)
        needed = 1 + (self.particle is not None)
        if not self.objects:
            return needed
        bare = self.pronouns or not {"name", "country", "city", "food", "drink"}.isdisjoint(self.objects)
        return needed + (1 if bare else 2)


PEOPLE: Final = ("person", "person", "name", "name")
SIGHTS: Final = ("place", "place", "area", "country", "city")
BELOVED: Final = (*PEOPLE, "animal", "place", "area", "country")
SEEN: Final = ("person", "name", "animal", "thing", "thing", "thing", "place", "area")
SOUGHT: Final = ("person", "name", "animal", "thing", "thing", "thing", "thing")
VERBS: Final = (
    Verb("visit", "visits", "visited", objects=SIGHTS, command=True, company=True),
    Verb("explore", "explores", "explored", objects=SIGHTS, command=True, company=True),
    Verb("see", "sees", "saw", objects=SEEN, pronouns=True, animals=True),
    Verb("love", "loves", "loved", objects=BELOVED, pronouns=True, definite=True, animals=True),
    Verb("eat", "eats", "ate", objects=("dish", "food"), command=True, place=True, company=True),
    Verb("drink", "drinks", "drank", objects=("drink",), command=True, place=True, company=True),
    Verb("buy", "buys", "bought", objects=("thing", "thing", "dish", "food", "drink"), command=True, place=True),
    Verb("taste", "tastes", "tasted", objects=("dish", "food", "drink"), command=True, company=True),
    Verb("prepare", "prepares", "prepared", objects=("dish", "food"), command=True, company=True),
    Verb("open", "opens", "opened", objects=("opening",), command=True),
    Verb("close", "closes", "closed", objects=("opening",), command=True),
    Verb("turn", "turns", "turned", objects=("device",), particle="off", definite=True, command=True),
    Verb("turn", "turns", "turned", objects=("device",), particle="on", definite=True, command=True),
    Verb("look", "looks", "looked", objects=SOUGHT, particle="for", pronouns=True, animals=True, place=True),
    Verb("wait", "waits", "waited", objects=PEOPLE, particle="for", pronouns=True, animals=True, command=True),
    Verb("clean", "cleans", "cleaned", objects=("surface", "opening"), command=True),
    Verb("help", "helps", "helped", objects=PEOPLE, pronouns=True, command=True),
    Verb("call", "calls", "called", objects=PEOPLE, pronouns=True, command=True),
    Verb("meet", "meets", "met", objects=PEOPLE, pronouns=True, place=True),
    Verb("tell", "tells", "told", objects=("story",), command=True, place=True),
    Verb("give", "gives", "gave", objects=("thing", "thing", "dish"), goal="receiver", command=True),
    Verb("show", "shows", "showed", objects=("thing", "thing", "place"), goal="receiver", command=True),
    Verb("talk", "talks", "talked", objects=PEOPLE, particle="to", command=True, place=True),
    Verb("sleep", "sleeps", "slept", animals=True, place=True),
    Verb("work", "works", "worked", place=True, company=True),
    Verb("dance", "dances", "danced", place=True, company=True),
    Verb("play", "plays", "played", animals=True, place=True, company=True),
    Verb("sit", "sits", "sat", goal="seat", animals=True),
    Verb("travel", "travels", "traveled", goal="country", company=True),
    Verb("go", "goes", "went", goal="destination", company=True),
    Verb("arrive", "arrives", "arrived", goal="arrival", company=True),
)
SAY: Final = Verb("say", "says", "said")
BE: Final = Verb("be", "is", "was")
