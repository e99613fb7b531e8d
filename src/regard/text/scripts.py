"""The script of a letter, by its Unicode name: separates Hindi from English, not English from French."""

import unicodedata
from collections import Counter
from functools import cache

_SAME = {
    "Cjk": "Han",
    "Katakana": "Kana",
    "Hiragana": "Kana",
    "Fullwidth": "Latin",
    "Halfwidth": "Kana",
    "Combining": "",
}


@cache
def _script(character: str) -> str | None:
    """None for what is not a letter."""
    category = unicodedata.category(character)
    if category[0] not in "LM" or category == "Lm":  # vowel signs are marks, and spell words
        return None
    first = unicodedata.name(character, "").partition(" ")[0].capitalize()
    return _SAME.get(first, first) or None


def scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has, vowel signs counted.

    >>> scripts("Tom ने कहा, 3 बजे")
    Counter({'Devanagari': 8, 'Latin': 3})
    """
    return Counter(script for script in map(_script, text) if script is not None)
