"""Maps near-duplicate texts, which differ in case, punctuation or white space, to one string."""

import unicodedata

_JOINERS = "\u200c\u200d"


class _Bare(dict[int, str]):
    """For `str.translate`, filled on first use: a character, or a space if it is not a letter, mark or digit.

    A variation selector, which only changes how the character before it is drawn, is removed.
    """

    def __missing__(self, code: int) -> str:
        one = chr(code)
        if unicodedata.name(one, "").startswith("VARIATION SELECTOR-"):
            self[code] = ""
        else:
            self[code] = one if one.isalnum() or unicodedata.category(one)[0] == "M" or one in _JOINERS else " "
        return self[code]


_BARE = _Bare()


def bare(text: str) -> str:
    """Letters, marks and digits alone, composed and in lower case; a text without letters and digits is unchanged.

    >>> bare("L'Été,  3 fois!")
    'l été 3 fois'
    """
    words = unicodedata.normalize("NFC", text.casefold()).translate(_BARE).split()
    return " ".join(word for word in words if any(map(str.isalnum, word))) or " ".join(text.split())
