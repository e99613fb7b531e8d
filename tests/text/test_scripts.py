"""Scripts of letters."""

import pytest

from regard.text.scripts import scripts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("123 !?", {}),
        ("naïve e\u0301", {"Latin": 6}),
        ("हिन्दी", {"Devanagari": 6}),
        ("привет", {"Cyrillic": 6}),
        ("漢字かなカナ", {"Han": 2, "Kana": 4}),
        ("ｆｕｌｌ", {"Latin": 4}),
        ("한국어", {"Hangul": 3}),
        ("Tom ने", {"Latin": 3, "Devanagari": 2}),
    ],
)
def test_letters_and_their_marks_are_counted(text: str, found: dict[str, int]) -> None:
    assert dict(scripts(text)) == found
