"""What two editions of a sentence have in common: its letters, marks and digits."""

import unicodedata

_JOINERS = "\u200c\u200d"


class _Bare(dict[int, str]):
    """A character, or a space for what is neither letter nor mark nor digit, worked out when it is first seen.

    Nothing for a variation selector, which only says how the character before it is drawn.
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
    """Letters, marks and digits alone, composed and in lower case; a text without letters and digits stays as it is.

    >>> bare("L'Été,  3 fois!")
    'l été 3 fois'
    """
    words = unicodedata.normalize("NFC", text.casefold()).translate(_BARE).split()
    return " ".join(word for word in words if any(map(str.isalnum, word))) or " ".join(text.split())
