"""The parts of a translation: words, steps, pictures, pages and plain data, with attention and without."""

import json
import re
from collections.abc import Callable
from html import unescape

import numpy as np
import pytest

import regard
from regard.alignment import Links

from .bundles import KINDS, MODELS

Make = Callable[..., regard.Translator]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_json_is_plain_data_that_points_into_its_own_text(random_model: Make, name: str, kind: str) -> None:
    translation = random_model(name, kind).translate("Don't turn off the lights, Jane!", nbest=2, longest=8)
    data = json.loads(json.dumps(translation.json(), allow_nan=False))
    for side in (data["source"], data["target"]):
        assert [side["text"][start:end] for start, end in side["word_spans"]] == side["words"]
        assert len(side["pieces"]) == len(side["piece_words"])
    assert data["source"]["words"][:3] == (["d", "o", "n"] if kind == "character" else ["don't", "turn", "off"])
    assert {tuple(link) for link in data["alignment"]} == translation.alignment
    assert len(data["alternatives"]) == 1
    if translation.attention is None:
        assert data["attention"] is None
    else:
        assert data["attention"]["shape"] == list(np.shape(data["attention"]["data"]))
        np.testing.assert_allclose(data["attention"]["data"], translation.attention, atol=1e-6)


def test_steps_name_the_strongest_source_piece_first(reverser: regard.Translator) -> None:
    steps = reverser.translate("5 9 4").steps
    assert [step.piece for step in steps] == ["4", "9", "5", "</s>"]
    assert [step.looked_at[0][0] for step in steps[:3]] == ["4", "9", "5"]
    for step in steps:
        weights = [weight for _, weight in step.looked_at]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) == pytest.approx(1, abs=1e-5)
        assert 0 < step.probability <= 1


@pytest.mark.parametrize("name", [name for name in MODELS if name != "vanilla"])
def test_pictures_and_pages_of_every_architecture(random_model: Make, name: str) -> None:
    translation = random_model(name).translate("the black cat", longest=4)
    assert len(translation.plot().axes) >= 1
    assert len(translation.plot(words=True, layer=0, head=0).axes) >= 1
    page = translation.html(title="A <page>")
    assert page.startswith("<!doctype html>")
    assert "A &lt;page&gt;" in page
    assert "black" in page
    with pytest.raises(ValueError, match="there is no layer 7: this attention has"):
        translation.plot(layer=7)


def test_a_notebook_shows_the_page_in_a_frame(random_model: Make) -> None:
    translation = random_model("bahdanau").translate('the "black" cat & <b>', longest=4)
    shown = translation._repr_html_()
    assert shown is not None
    (page,) = re.findall(r'^<iframe srcdoc="([^"<>]*)" width="100%" height="[0-9]+" ', shown)
    assert unescape(page) == translation.html()
    assert random_model("bahdanau").translate("  ")._repr_html_() is None
    assert random_model("vanilla").translate("the cat", longest=4)._repr_html_() is None, "there is no map to show"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["bahdanau", "vanilla"])
def test_the_heading_of_a_page_is_the_sentence_not_its_pieces(random_model: Make, name: str, kind: str) -> None:
    translation = random_model(name, kind).translate("Turn off the lights, Jane!", longest=4)
    page = translation.html()
    assert f'<h2 dir="auto">{translation.source}</h2>' in page
    assert translation.source.startswith("turn off the lights, jane")
    marked = any(piece.startswith("▁") for piece in (*translation.source_pieces, *translation.target_pieces))
    assert ("▁ begins a word." in page[: page.index("<script")]) == (marked and name != "vanilla")


def test_repr_names_the_model(random_model: Make) -> None:
    translator = random_model("bahdanau")
    assert repr(translator) == f"Translator({str(translator.bundle.path)!r}, device='cpu')"


def test_a_chosen_head_is_drawn_instead_of_the_mean(random_model: Make) -> None:
    translation = random_model("transformer").translate("the black cat", longest=4)
    assert translation.attention is not None
    chosen = translation.attention_map(layer=1, head=0).weights
    assert chosen is not None
    np.testing.assert_allclose(chosen, translation.attention[1, 0], atol=1e-6)
    mean = translation.attention_map().weights
    assert mean is not None
    np.testing.assert_allclose(mean, translation.attention.mean(axis=(0, 1)), atol=1e-6)


def test_without_attention_all_outputs_note_that_no_alignment_exists(random_model: Make) -> None:
    translation = random_model("vanilla").translate("the black cat", longest=4)
    assert translation.attention is None
    assert translation.matrix is None
    assert translation.word_attention is None
    assert translation.alignment == frozenset()
    assert all(step.looked_at == () for step in translation.steps)
    assert len(translation.steps) == 4
    assert "One fixed vector, no alignment exists" in translation.html()
    with pytest.raises(ValueError, match="one fixed vector, no alignment exists"):
        translation.plot()


@pytest.mark.parametrize("kind", ["word", "character"])
def test_gold_links_are_framed_on_words_and_keep_eos_where_pieces_are_words(random_model: Make, kind: str) -> None:
    translation = random_model("bahdanau", kind).translate("the black cat", target="le chat noir")
    drawn = translation.attention_map(links=Links.of([(0, 0), (1, 2)], possible=[(2, 1)]))
    assert drawn.sure == {(0, 0), (1, 2)}
    assert drawn.possible == {(0, 0), (1, 2), (2, 1)}
    shown = [label.shown for label in drawn.target]
    expected = {"word": ["le", "chat", "noir", "EOS"], "character": list("lechatnoir")}
    assert shown == expected.get(kind, ["le", "chat", "noir"])


def test_attention_cannot_be_changed_by_accident(reverser: regard.Translator) -> None:
    translation = reverser.translate("5 9 4")
    assert translation.attention is not None
    with pytest.raises(ValueError, match="read-only"):
        translation.attention[0, 0, 0, 0] = 1.0


def test_a_map_between_words_has_a_column_for_the_end_so_that_rows_sum_to_1() -> None:
    translation = regard.load("en-fr").translate("Where have you hidden my car keys?")
    shown = translation.attention_map(words=True)
    assert [one.text for one in shown.source] == [*translation.source_words, "EOS"]
    np.testing.assert_allclose(shown.drawn().sum(axis=1), 1, atol=1e-5)
    assert shown.missing == ""
    assert translation.word_attention is not None
    np.testing.assert_allclose(shown.drawn()[:, :-1], translation.word_attention, atol=1e-6)
