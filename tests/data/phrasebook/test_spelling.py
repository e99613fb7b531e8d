"""Every word is in the spelling dictionaries that Debian ships: hunspell-fr, hunspell-hi, hunspell-en-us."""

import ctypes
import ctypes.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.data.phrasebook.lexicon.english import NAMES

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
        ("fr_FR", "hunspell-fr", "en-fr", 1),
        ("fr_FR", "hunspell-fr", "fr-en", 0),
        ("hi_IN", "hunspell-hi", "en-hi", 1),
        ("en_US", "hunspell-en-us", "en-fr", 0),
        ("en_US", "hunspell-en-us", "en-hi", 0),
    ],
)
def test_every_word_is_spelt_right(language: str, package: str, pair: str, side: int, samples: dict[str, Any]) -> None:
    knows = speller(language, package)
    assert not knows("qzxv")
    wrong = {word for word in samples[pair]["vocabulary"][side] if word != "," and not knows(word)}
    assert wrong <= (ABSENT_NAMES & set(NAMES)), "only names of persons may be missing"
