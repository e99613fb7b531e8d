"""Moses tokenisation, which published BLEU scores are based on: normalise punctuation, then split.

Written from the scripts' documented rules for English, French and German, lower-cased text; on Multi30k's nine
development and test files every line comes out as its maintainers published it.

    >>> tokenise("Un groupe d'hommes, assis.", "fr")
    "Un groupe d' hommes , assis ."
    >>> tokenise("a woman's 5,300 shoes...", "en")
    "a woman 's 5,300 shoes ..."
"""

import re
import tomllib
from pathlib import Path
from typing import Any, Literal, get_args

from regard.text.input_error import InputError

Language = Literal["en", "fr", "de"]
LANGUAGES: tuple[str, ...] = get_args(Language)

_RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_DOTS = "\ue000"
"""Stands for a dot of several in a row, which stay together."""


def normalise_punctuation(text: str, language: str) -> str:
    """Straight quotes and dashes, no space inside brackets or before a colon; a quote before or after its stop."""
    text = text.translate(str.maketrans(_RULES["characters"]))
    for pattern, written in _RULES["spacing"]:
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
    for pattern, written in _RULES["apostrophes"][language]:
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
    abbreviation = re.fullmatch(_RULES["abbreviations"][language], before)
    return word if inner or goes_on or abbreviation else f"{before} ."
