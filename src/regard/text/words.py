"""Text <-> words with their character spans, in any script: the definition of a word for all alignments in regard.

White space separates words; each punctuation mark is a word; an elided clitic ends with its apostrophe:

    >>> split_words("l'été, don't we?")
    ["l'", 'été', ',', "don't", 'we', '?']
    >>> join_words(["l'", "été", ",", "don't", "we", "?"])
    "l'été, don't we?"

Letters, digits and marks of any script make words. A hyphen or an apostrophe between them belongs to the word
(rendez-vous, o'clock), so does a point, comma or colon between two digits (3.5). Scripts that write no spaces:
each Han or kana character is a word; other scripts (Thai, Khmer) split at white space only. An emoji is a word
together with its modifiers.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, Literal

from regard.text.special import UNKNOWN

Splitting = Literal["marks", "spaces"]
"""`marks` is the rule above; `spaces` keeps text that is tokenised already: words are what white space separates."""
Unit = Literal[Splitting, "characters"]
"""What links, entropies, maps and lengths count: words, or each character but white space."""

APOSTROPHES: Final = "'’ʼ"
CLITICS: Final = frozenset(["l", "d", "j", "t", "m", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"])
CLOSING: Final = frozenset(".,!?;:)]}…।॥،؛؟۔。、，！？；：）」』”")
OPENING: Final = frozenset("([{¿¡（「『“")


# The text is first rewritten as one class letter for each character, then split by one expression over the classes:
#   w letter   d digit   m combining mark   z joiner   a apostrophe   h hyphen   n . , :
#   i ideograph or kana   e pictograph   r half of a flag   s white space   p any other mark
class _Classes(dict[int, str]):
    """Class letter by code point, computed on first use."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = _classify(chr(code))
        return letter


_CHOSEN = {
    **dict.fromkeys(APOSTROPHES, "a"),
    **dict.fromkeys("-‐‑·", "h"),
    **dict.fromkeys(".,:", "n"),
    **dict.fromkeys("_" + UNKNOWN, "w"),
    "\u200b": "s",
}
_IDEOGRAPH = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af]"
)


def _classify(character: str) -> str:
    if character in _CHOSEN:
        return _CHOSEN[character]
    if character.isspace():
        return "s"
    if _IDEOGRAPH.match(character):
        return "i"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "r"
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # skin tones
        return "m"
    category = unicodedata.category(character)
    if category == "Nd":
        return "d"
    if category == "So":
        return "e"
    if category in ("Cc", "Cs"):
        return "p"
    return {"M": "m", "P": "p", "S": "p", "Z": "s"}.get(category[0], "z" if category == "Cf" else "w")


_CLASSES = _Classes()
_CORE = r"(?:[wdmz]|(?<=d)n(?=d))+"
_WORD = re.compile(rf"(?P<letters>{_CORE}(?:[ah]{_CORE})*a?)|i[mz]*|e[m]*(?:z+e[m]*)*|rr?|[^s]")
_APOSTROPHE = re.compile(f"[{APOSTROPHES}]")
_SPACED = re.compile(r"\S+")
_CHARACTER = re.compile(r"\S")


def word_spans(text: str, splitting: Unit = "marks") -> list[tuple[int, int]]:
    """The (start, end) of each word, or of each character; `split_words` gives their texts."""
    if splitting != "marks":
        found = _SPACED if splitting == "spaces" else _CHARACTER
        return [match.span() for match in found.finditer(text)]
    spans: list[tuple[int, int]] = []
    elided = _APOSTROPHE.search(text) is not None
    for match in _WORD.finditer(text.translate(_CLASSES)):
        start, end = match.span()
        if elided and match.lastgroup and end - start > 1:
            start, end = _split_clitics(text, start, end, spans)
        if start < end:
            spans.append((start, end))
    return spans


def _split_clitics(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Append the clitics that begin text[start:end] to `spans`; return the rest of the range."""
    while (match := _APOSTROPHE.search(text, start, end)) and text[start : match.start()].lower() in CLITICS:
        spans.append((start, match.end()))
        start = match.end()
    if start < end and text[end - 1] in APOSTROPHES:  # an apostrophe that ends a word and elides nothing: dogs'
        spans.append((start, end - 1))
        start = end - 1
    return start, end


def split_words(text: str, splitting: Unit = "marks") -> list[str]:
    """The words of any text, in order, none of them empty."""
    return [text[start:end] for start, end in word_spans(text, splitting)]


def join_words(words: Sequence[str], splitting: Splitting = "marks") -> str:
    """Words as people write them: split_words gives the same words back."""
    if splitting == "spaces":
        return " ".join(words)
    pieces: list[str] = []
    for position, word in enumerate(words):
        if position and not _touch(words[position - 1], word):
            pieces.append(" ")
        pieces.append(word)
    return "".join(pieces)


def _touch(left: str, right: str) -> bool:
    """Whether no space stands between two words."""
    if right in CLOSING or left in OPENING:
        return True
    if left[-1:] in APOSTROPHES:
        return left[:-1].lower() in CLITICS
    return _is_ideograph(left) and _is_ideograph(right)


def _is_ideograph(word: str) -> bool:
    return word != "" and word[0] > "\u3000" and _CLASSES[ord(word[0])] == "i"
