"""Issue 13, item 4: control characters are escaped; joiners and marks that spell words stay."""

import json
import sys
import unicodedata

import pytest

from regard.text.controls import escape_controls


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone\x07", r"\u001b[2Jgone\u0007"),
        ("\x1b]8;;http://evil\x1b\\link", "\\u001b]8;;http://evil\\u001b\\link"),
        ("\x9b31mred", r"\u009b31mred"),
        ("safe\rOVER", r"safe\u000dOVER"),
        ("a\x08b\x7fc\x00d\x0be\x0cf\x85g", r"a\u0008b\u007fc\u0000d\u000be\u000cf\u0085g"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("\u2066x\u2069\u202a\u202b\u202c\u202d\u2067\u2068", r"\u2066x\u2069\u202a\u202b\u202c\u202d\u2067\u2068"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
    assert escape_controls(shown) == shown, "twice is once"


@pytest.mark.parametrize(
    "text",
    [
        "two\nlines\tand a tab",
        "क्‍ष क्‌ष लाइट",  # Hindi: conjuncts with and without joiners
        "می‌خواهم",  # Persian: a joiner that keeps letters apart
        "שלום \u200fעולם\u200e!",  # marks of direction spell punctuation in mixed text
        "e\u0301 👩‍👩‍👧 ﷽ naïve 中文 ▁piece",
        "soft\u00adhyphen no\u00a0break \ufeff",
    ],
)
def test_joiners_and_marks_stay(text: str) -> None:
    assert escape_controls(text) is text or escape_controls(text) == text


def test_every_control_character_is_caught() -> None:
    """All of category Cc but line feed and tab; of the bidirectional controls those that reorder other text."""
    controls = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cc"]
    moving = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.bidirectional(chr(code)) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]
    for one in [*controls, *moving]:
        assert (escape_controls(one) == one) is (one in "\n\t"), hex(ord(one))


def test_json_on_a_terminal_is_the_same_json() -> None:
    found = {"text": "a\x1b[2J\x9b1m\u202e"}
    assert json.loads(escape_controls(json.dumps(found, ensure_ascii=False))) == found
