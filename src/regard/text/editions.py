"""What two editions of a sentence have in common: its letters, marks and digits."""

import unicodedata


class _Bare(dict[int, str]):
    """A character, or a space for what is neither letter nor mark nor digit, worked out when it is first seen."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        self[code] = one if one.isalnum() or unicodedata.category(one)[0] == "M" or one in "\u200c\u200d" else " "
        return self[code]


_BARE = _Bare()


def bare(text: str) -> str:
    """Letters, marks and digits alone, composed and in lower case; a text that has none of them stays as it is.

    >>> bare("L'Été,  3 fois!")
    'l été 3 fois'
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().translate(_BARE).split()) or " ".join(text.split())
