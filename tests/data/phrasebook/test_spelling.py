"""Every word is in the spelling dictionaries that Debian ships: hunspell-fr, hunspell-hi, hunspell-en-us."""

import ctypes
import ctypes.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.data.phrasebook.lexicon import french, hindi

from .test_lexicon import forms, words_of

FOLDERS = (Path("/usr/share/hunspell"), Path("/usr/local/share/hunspell"), Path("/opt/homebrew/share/hunspell"))
ABSENT_NAMES = {"amit", "meera"}


def speller(language: str, package: str) -> Callable[[str], bool]:
    """Whether a dictionary knows a word, as it stands or with capitals; hunspell's own program cuts Hindi words."""
    library = ctypes.util.find_library("hunspell-1.7") or ctypes.util.find_library("hunspell")
    found = [folder / f"{language}.aff" for folder in FOLDERS if (folder / f"{language}.aff").exists()]
    if library is None or not found:
        pytest.skip(f"needs hunspell and its {language} dictionary: apt install hunspell {package}")
    hunspell = ctypes.CDLL(library)
    hunspell.Hunspell_create.restype = ctypes.c_void_p
    hunspell.Hunspell_create.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    hunspell.Hunspell_spell.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    handle = hunspell.Hunspell_create(str(found[0]).encode(), str(found[0].with_suffix(".dic")).encode())

    def knows(word: str) -> bool:
        return any(hunspell.Hunspell_spell(handle, form.encode()) for form in (word, word.capitalize(), word.title()))

    return knows


@pytest.mark.parametrize(
    ("language", "package", "pair", "side"),
    [
        ("fr_FR", "hunspell-fr", "en-fr", "target"),
        ("hi_IN", "hunspell-hi", "en-hi", "target"),
        ("en_US", "hunspell-en-us", "en-fr", "source"),
        ("en_US", "hunspell-en-us", "en-hi", "source"),
    ],
)
def test_every_word_is_spelt_right(language: str, package: str, pair: str, side: str, samples: dict[str, Any]) -> None:
    knows = speller(language, package)
    assert not knows("qzxv")
    words = words_of(pair, side, samples)
    if side == "target":
        lexicon: Any = french() if pair == "en-fr" else hindi()
        verbs = lexicon.verbs if pair == "en-fr" else lexicon.conjugations
        tables = (lexicon.nouns, lexicon.adjectives, verbs)
        words |= {form for table in tables for entry in table.values() for form in forms(entry)}
    assert {word for word in words - {","} if not knows(word)} <= ABSENT_NAMES
