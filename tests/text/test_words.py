"""Words in any script: how text is split, their spans, and that joining is the inverse of splitting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.words import join_words, split_words, word_spans

TRICKY = st.text(
    alphabet=st.sampled_from(list("aéLlDdqu'’ʼ-.,:!?()।कि््‍ा 5٣中のゞ🇫🇷👩‍🏽\u200d\u0301_«»\"\t\n")), max_size=30
)
TEXTS = st.one_of(st.text(max_size=60), TRICKY)


def texts_of(text: str) -> list[str]:
    return split_words(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the black cat sat on the mat.", "the black cat sat on the mat ."),
        ("jane visite l'afrique en septembre", "jane visite l' afrique en septembre"),
        ("L’Été qu’il j't'aime d'l'eau", "L’ Été qu’ il j' t' aime d' l' eau"),
        ("jusqu'à lorsqu'on puisqu'elle quoiqu'un", "jusqu' à lorsqu' on puisqu' elle quoiqu' un"),
        ("don't it's o'clock aujourd'hui quelqu'un", "don't it's o'clock aujourd'hui quelqu'un"),
        ("est-ce peut-être l'arc-en-ciel -5 -", "est-ce peut-être l' arc-en-ciel - 5 -"),
        ("the dogs' bones 'so'", "the dogs ' bones ' so '"),
        ("l' afrique d'", "l' afrique d'"),
        ("3.5 10,000 1:30 5. a.b", "3.5 10,000 1:30 5 . a . b"),
        ("लाइट बंद करो। हिन्दी", "लाइट बंद करो । हिन्दी"),
        ("क्‍ष می‌خواهم", "क्‍ष می‌خواهم"),
        ("مرحبا، كيف حالك؟", "مرحبا ، كيف حالك ؟"),
        ("我爱你。カメラ", "我 爱 你 。 カ メ ラ"),
        ("👩‍👩‍👧 👍🏽👍 🇫🇷🇩🇪", "👩‍👩‍👧 👍🏽 👍 🇫🇷 🇩🇪"),
        ("«oui», (non)... a\u00a0b", "« oui » , ( non ) . . . a b"),
        ("", ""),
        (" \t\n\u3000 ", ""),
    ],
)
def test_words_are_split(text: str, words: str) -> None:
    assert texts_of(text) == words.split(" ") if words else texts_of(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "jane visite l'afrique, en septembre.",
        "i don't know (really)!",
        "लाइट बंद करो।",
        "我爱你。",
        "j't'aime: qu'il vienne; l'un… l'autre?",
    ],
)
def test_ordinary_text_is_joined_exactly(text: str) -> None:
    assert join_words(texts_of(text)) == text


@given(TEXTS)
def test_spans_are_exact_and_cover_all_but_white_space(text: str) -> None:
    end = 0
    for start, stop in word_spans(text):
        assert text[start:stop]
        assert text[end:start].replace("\u200b", " ").strip() == ""
        end = stop
    assert text[end:].replace("\u200b", " ").strip() == ""


@given(TEXTS)
def test_joining_undoes_splitting(text: str) -> None:
    assert texts_of(join_words(texts_of(text))) == texts_of(text)


@given(st.lists(TRICKY, max_size=8), st.randoms(use_true_random=False))
def test_words_in_any_order_are_joined_so_that_they_split_again(texts: list[str], random: object) -> None:
    """A model may produce any sequence of words."""
    words = [word for text in texts for word in texts_of(text)]
    random.shuffle(words)  # type: ignore[attr-defined]
    assert texts_of(join_words(words)) == words


@given(TEXTS)
def test_splitting_at_spaces_keeps_what_is_tokenised(text: str) -> None:
    words = [text[start:end] for start, end in word_spans(text, "spaces")]
    assert words == text.split()
    assert join_words(words, "spaces").split() == words
