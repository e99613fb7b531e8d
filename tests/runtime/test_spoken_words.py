"""Pronunciation models: a text is read word by word, in letters that the model knows; links are letters and phones."""

from pathlib import Path

import numpy as np
import pytest

import regard
from regard.runtime.spoken_words import LETTERS, SpokenText, reads_one_word
from regard.runtime.traced import SentenceToTrace, Tracing, translate_traced
from regard.runtime.translator import Translator
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer

from .bundles import KINDS, pronouncing, untrained

LEFT_OUT = "unknown to this model and left out: "


@pytest.fixture(scope="module", params=[True, False], ids=["eos", "no-eos"])
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return regard.load(pronouncing(tmp_path_factory.mktemp("bundle"), eos=request.param, longest=6))


@pytest.fixture
def tokenizer(translator: Translator) -> Tokenizer:
    return translator.bundle.source


@pytest.mark.parametrize(
    ("text", "words", "warning"),
    [
        ("synchronise", ["synchronise"], None),
        ("HELLO", ["hello"], None),
        ("don\u2019t", ["don't"], None),
        ("'em and dogs'", ["'em", "and", "dogs'"], None),
        ("well-known", ["well", "known"], None),
        ("Hello,  world! (again)", ["hello", "world", "again"], None),
        ("caf\u00e9 cafe\u0301 na\u00efve \ufb01ne", ["cafe", "cafe", "naive", "fine"], None),
        ("rock ' roll", ["rock", "roll"], None),
        ("b42", ["b"], LEFT_OUT + "'4', '2'; write numbers in words"),
        ("42", [""], LEFT_OUT + "'4', '2'; write numbers in words"),
        ("me & you", ["me", "you"], LEFT_OUT + "'&'"),
        ("\u0153uvre \u732b", ["uvre"], LEFT_OUT + "'\u0153', '\u732b'"),
        ("", [""], "blank: nothing to translate"),
        ("...", [""], "blank: nothing to translate"),
    ],
)
def test_a_text_becomes_words_of_known_letters(
    tokenizer: Tokenizer, text: str, words: list[str], warning: str | None
) -> None:
    spoken = SpokenText.of(text, tokenizer)
    assert [*spoken.words] == words
    assert spoken.warnings == (() if warning is None else (warning,))


def test_a_known_accent_stays(tmp_path: Path) -> None:
    accented = Tokenizer.train(["caf\u00e9-"], regard.load(pronouncing(tmp_path / "bundle")).bundle.source.config)
    assert SpokenText.of("Caf\u00e9-e\u0301f", accented).words == ("caf\u00e9-\u00e9f",)


def test_only_models_of_letters_and_symbols_read_single_words(translator: Translator, tmp_path: Path) -> None:
    assert reads_one_word(translator.bundle)
    for kind in KINDS:
        assert not reads_one_word(regard.load(untrained(tmp_path / kind, kind=kind)).bundle)


def test_a_sentence_is_pronounced_word_by_word(translator: Translator) -> None:
    text = "Hello, well-known world"
    words = ("hello", "well", "known", "world")
    found, alone = translator.translate(text), translator.translate(words)
    assert found.source == " ".join(words)
    assert found.text == " | ".join(one.text for one in alone)
    assert found.source_words == (*"hellowellknownworld",)
    assert found.target_words == tuple(phone for one in alone for phone in one.text.split())
    assert found.score == pytest.approx(sum(one.score for one in alone))
    letters = phones = rows = columns = 0
    wanted = set()
    assert found.attention is not None
    for one in alone:
        assert one.attention is not None
        wanted |= {(letters + source, phones + target) for source, target in one.alignment}
        height, width = one.attention.shape[2:]
        np.testing.assert_array_equal(
            found.attention[:, :, rows : rows + height, columns : columns + width], one.attention
        )
        letters, phones = letters + len(one.source_words), phones + len(one.target_words)
        rows, columns = rows + height, columns + width
    assert found.alignment == wanted
    assert found.attention.shape[2:] == (rows, columns) == (len(found.target_pieces), len(found.source_pieces))
    np.testing.assert_allclose(found.attention.sum(-1), 1)
    json = found.json()
    assert [json["target"]["text"][a:b] for a, b in json["target"]["word_spans"]] == [*found.target_words]
    assert found.plot(words=True) is not None


def test_alternatives_combine_those_of_the_words(translator: Translator) -> None:
    found = translator.translate("hello world", beam=6, nbest=4)
    hello, world = translator.translate(["hello", "world"], beam=6, nbest=4)
    every = [
        (one.normalised_score + other.normalised_score, f"{one.text} | {other.text}")
        for one in (hello, *hello.alternatives)
        for other in (world, *world.alternatives)
    ]
    best = sorted(every, reverse=True)[:4]
    assert [one.text for one in (found, *found.alternatives)] == [text for _, text in best]
    assert [one.normalised_score for one in (found, *found.alternatives)] == pytest.approx([score for score, _ in best])


def test_samples_keep_the_order_in_which_they_were_drawn(translator: Translator) -> None:
    found = translator.translate("hello world", temperature=1.0, nbest=3)
    assert len((found, *found.alternatives)) == 3
    assert found.text == translator.translate(["hello", "world"], temperature=1.0, nbest=3)[0].text + (
        " | " + translator.translate(["hello", "world"], temperature=1.0, nbest=3)[1].text
    )


def test_texts_without_letters_have_no_translation(translator: Translator) -> None:
    blank, number, word = translator.translate(["", "42", "cat"])
    assert (blank.text, number.text) == ("", "")
    assert blank.warnings == ("blank: nothing to translate",)
    assert number.warnings == (LEFT_OUT + "'4', '2'; write numbers in words",)
    assert word.text


def test_a_given_pronunciation_separates_words(translator: Translator) -> None:
    found = translator.translate("hello world", target="AH L | W EH L")
    assert found.text == "AH L | W EH L"
    assert found.forced
    with pytest.raises(InputError, match="'hello world' has 2 words, but its given pronunciation 1: separate words by"):
        translator.translate("hello world", target="AH L W EH L")
    assert translator.translate("hello", prefix="K").text.startswith("K ")
    with pytest.raises(InputError, match="'hello world' has 2 words, and this model reads one at a time"):
        translator.translate("hello world", prefix="K")


def test_a_very_long_text_is_cut_with_a_warning(translator: Translator) -> None:
    spoken = SpokenText.of("letters " * LETTERS, translator.bundle.source)
    assert len("".join(spoken.words)) <= LETTERS
    assert spoken.warnings == ("too long: only the first 142 of 1,000 words were read",)
    hello = translator.translate("hello")
    assert spoken.join([hello] * len(spoken.words), 1, drawn=False).source_cut
    assert not hello.source_cut
    assert "too long: only the first 12 of 1,000 pieces were read" in translator.translate("a" * 1000).warnings


def test_what_shows_one_step_reads_one_word(translator: Translator) -> None:
    (traced,) = translate_traced(translator, [SentenceToTrace("Caf\u00e9!")], {}, Tracing())
    assert traced.source.encoding.text == "cafe"
    assert traced.found[0].translation.text == translator.translate("cafe").text
    for call in (lambda: translate_traced(translator, [SentenceToTrace("a cat")], {}, Tracing()),
                 lambda: translator.inside("a cat")):  # fmt: skip
        with pytest.raises(InputError, match="'a cat' has 2 words, and this model reads one at a time: give one word"):
            call()
    assert translator.inside("caf\u00e9").source_pieces[:4] == (*"cafe",)


def test_a_given_pronunciation_of_unknown_symbols_is_reported(translator: Translator) -> None:
    assert translator.translate("hello", target="AH zzz").warnings == ("unknown to this model, in the target: 'zzz'",)
    found = translator.translate("hello world", target="zzz | zzz qqq").warnings
    assert found == (
        "unknown to this model, in the target: 'zzz'",
        "unknown to this model, in the target: 'zzz', 'qqq'",
    )
    assert "unknown to this model, in the prefix: 'zzz'" in translator.translate("hello", prefix="zzz").warnings
