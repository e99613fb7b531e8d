"""Normalisation: what it changes, what it keeps, and that it is idempotent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from regard.text.input_error import InputError
from regard.text.normalise import Normaliser

FORMS = st.sampled_from(["NFC", "NFKC", "NFD"])
NORMALISERS = st.builds(
    Normaliser, lowercase=st.booleans(), apostrophes=st.booleans(), drop_final_stop=st.booleans(), form=FORMS
) | st.builds(Normaliser, apostrophes=st.booleans(), complete=st.just(True), form=FORMS)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  The\tblack \u00a0 cat\n", "The black cat"),
        ("l’été jʼai", "l'été j'ai"),
        ("e\u0301", "é"),
        ("a\x00b\x1fc\ufeffd\u00ade\u202ef", "ab cdef"),
        ("a\u200bb", "a b"),
        ("क्\u200dष می\u200cخواهم", "क्\u200dष می\u200cخواهم"),
        ("▁a", "_a"),
        ("", ""),
        (" \u2003\r\n", ""),
    ],
)
def test_normalised_texts(raw: str, text: str) -> None:
    assert Normaliser()(raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("The cat sat.", "the cat sat"),
        ("ÉTÉ.", "été"),
        ("लाइट बंद करो।", "लाइट बंद करो"),
        ("Wait...", "wait"),
        ("Who?", "who?"),
        ("...", "..."),
        ("", ""),
    ],
)
def test_lower_case_without_final_stop(raw: str, text: str) -> None:
    assert Normaliser(lowercase=True, drop_final_stop=True)(raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("i love you", "I love you."),
        ("Paris", "Paris."),
        ("élan vital ", "Élan vital."),
        ("Where are my keys?", "Where are my keys?"),
        ("where are my keys?", "Where are my keys?"),
        ("l'été, j'irai.", "L'été, j'irai."),
        ("« oui »", "« oui »"),
        ("“Where is it?” he asked", '"Where is it?" he asked.'),
        ("„ja“, sagt er.", '"ja", sagt er.'),
        ("CAN I HELP YOU?", "Can i help you?"),
        ("ÉTÉ À ROME", "Été à rome."),
        ("NATO", "NATO."),
        ("NATO won", "NATO won."),
        ("ŉ", "ŉ."),
        ("", ""),
    ],
)
def test_texts_are_completed_to_sentences(raw: str, text: str) -> None:
    assert Normaliser(complete=True)(raw) == text


def test_completion_contradicts_small_letters_and_a_dropped_stop() -> None:
    for keys in ({"lowercase": True}, {"drop_final_stop": True}):
        with pytest.raises(ValidationError, match="complete adds a capital and a final stop: leave out"):
            Normaliser(complete=True, **keys)


@given(NORMALISERS, st.text())
def test_normalising_is_idempotent(normalise: Normaliser, text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_half_a_surrogate_pair_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"character 3 of 'abc.ud800' is half of a surrogate pair.*read it as UTF-8"):
        Normaliser()("abc\ud800")


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(ValidationError, match="lower_case"):
        Normaliser.model_validate({"lower_case": True})


@pytest.mark.parametrize(("raw", "letters"), [("é", "e\u0301"), ("책임", "ᄎ ᅢ ᆨ ᄋ ᅵ ᆷ".replace(" ", ""))])
def test_nfd_decomposes_letters(raw: str, letters: str) -> None:
    assert Normaliser(form="NFD")(raw) == letters
