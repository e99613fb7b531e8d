"""Moses tokenisation, which published BLEU scores are based on: normalise punctuation, then split.

Written from the scripts' documented rules for English, French and German, lower-cased text; on Multi30k's nine
development and test files every line comes out as its maintainers published it.

    >>> tokenise("Un groupe d'hommes, assis.", "fr")
    "Un groupe d' hommes , assis ."
    >>> tokenise("a woman's 5,300 shoes...", "en")
    "a woman 's 5,300 shoes ..."
"""

import re
from typing import Literal, get_args

from regard.text.input_error import InputError

Language = Literal["en", "fr", "de"]
LANGUAGES: tuple[str, ...] = get_args(Language)

_QUOTES = {
    **dict.fromkeys("„“”«»‘‚’", '"'),  # the scripts make a curly apostrophe a quotation mark
    **dict.fromkeys("´`", "'"),
    "–": "-",
    "—": " - ",
    "…": "...",
    "\u00a0": " ",
}
_SPACING = (
    (r"\(", " ("),
    (r"\)", ") "),
    (r" +", " "),
    (r"\) ([.!:?;,])", r")\1"),
    (r"\( ", "("),
    (r" \)", ")"),
    (r"(\d) %", r"\1%"),
    (r" :", ":"),
    (r" ;", ";"),
)
_DOTS = "\ue000"
"""Stands for a dot of several in a row, which stay together."""
_LETTER = r"[^\W\d_]"
_APOSTROPHES = {
    "en": (
        (rf"((?!{_LETTER}).)'((?!{_LETTER}).)", r"\1 ' \2"),
        (rf"((?!{_LETTER}|\d).)'({_LETTER})", r"\1 ' \2"),
        (rf"({_LETTER})'((?!{_LETTER}).)", r"\1 ' \2"),
        (rf"({_LETTER})'({_LETTER})", r"\1 '\2"),
        (r"(\d)'(s)", r"\1 '\2"),
    ),
    "fr": (
        (rf"((?!{_LETTER}).)'((?!{_LETTER}).)", r"\1 ' \2"),
        (rf"((?!{_LETTER}).)'({_LETTER})", r"\1 ' \2"),
        (rf"({_LETTER})'((?!{_LETTER}).)", r"\1 ' \2"),
        (rf"({_LETTER})'({_LETTER})", r"\1' \2"),
    ),
    "de": ((r"'", " ' "),),
}
_ABBREVIATIONS = {
    "en": frozenset(["v", "vs", "i.e", "rev", "e.g", "nos", "nr"]),
    "fr": frozenset(["art", "cf", "etc", "ex", "fig", "p", "pp", "sec", "vol"]),
    "de": frozenset(["bzw", "ca", "usw", *(str(number) for number in range(1, 100))]),
}


def normalise_punctuation(text: str, language: str) -> str:
    """Straight quotes and dashes, no space inside brackets or before a colon; a quote before or after its stop."""
    for found, written in _QUOTES.items():
        text = text.replace(found, written)
    for pattern, written in _SPACING:
        text = re.sub(pattern, written, text)
    text = text.replace("''", '"')
    if language == "en":
        return re.sub(r'"([,.]+)', r'\1"', text)
    text = text.replace(',"', '",')
    return re.sub(r'(\.+)"(\s*[^<]|$)', r'"\1\2', text)


def tokenise(text: str, language: str) -> str:
    """Tokens with a space between them."""
    if language not in LANGUAGES:
        raise InputError(f"no Moses tokens for language '{language}': valid choices are {', '.join(LANGUAGES)}")
    text = f" {normalise_punctuation(text, language)} "
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"([^\w\s.'`,\-]|_)", r" \1 ", text)
    text = re.sub(r"\.{2,}", lambda dots: f" {_DOTS * len(dots[0])} ", text)
    text = re.sub(r"(\D),", r"\1 , ", text)
    text = re.sub(r",(\D)", r" , \1", text)
    for pattern, written in _APOSTROPHES[language]:
        text = re.sub(pattern, written, text)
    words = text.split()
    split = [_split_stop(word, words[place + 1 : place + 2], language) for place, word in enumerate(words)]
    text = re.sub(r"\.' ?$", " . '", " ".join(split))
    return text.replace(_DOTS, ".")


def _split_stop(word: str, after: list[str], language: str) -> str:
    """A full stop at a word's end is a token, unless the word is an abbreviation or the sentence goes on."""
    before = word[:-1]
    if not word.endswith(".") or not before:
        return word
    inner = "." in before and any(character.isalpha() for character in before)
    goes_on = bool(after) and after[0][0].islower()
    return word if inner or goes_on or before in _ABBREVIATIONS[language] else f"{before} ."
