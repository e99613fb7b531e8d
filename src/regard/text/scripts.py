"""The script of a letter, by its Unicode name: separates Hindi from English, not English from French."""

import unicodedata
from collections import Counter

_SAME = {
    "Cjk": "Han",
    "Katakana": "Kana",
    "Hiragana": "Kana",
    "Fullwidth": "Latin",
    "Halfwidth": "Kana",
    "Combining": "",
}


class _Scripts(dict[str, str | None]):
    """Script by character, computed on first use; None for what is not a letter."""

    def __missing__(self, character: str) -> str | None:
        script = None
        category = unicodedata.category(character)
        if category[0] in "LM" and category != "Lm":  # vowel signs are marks, and spell words
            first = unicodedata.name(character, "").partition(" ")[0].capitalize()
            script = _SAME.get(first, first) or None
        self[character] = script
        return script


_SCRIPTS = _Scripts()


def scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has, vowel signs counted.

    >>> scripts("Tom ने कहा, 3 बजे")
    Counter({'Devanagari': 8, 'Latin': 3})
    """
    return Counter(script for script in map(_SCRIPTS.__getitem__, text) if script is not None)
