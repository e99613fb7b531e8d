"""Links and copied words come from the head that guided alignment trained."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.lab.align_corpus import default_rule
from regard.lab.align_job import prepare
from regard.lab.align_settings import AlignOptions, AlignRequest
from regard.runtime.build_translation import build_translation
from regard.runtime.guided import guided_head, guided_shift
from regard.runtime.source_text import read_source
from regard.runtime.translator import Translator
from regard.search import Hypothesis
from regard.text.input_error import InputError
from regard.text.special import EOS, UNK
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig

from .bundles import untrained


@pytest.mark.parametrize(
    ("guide", "head"),
    [
        ({"weight": 0.5}, (0, 0)),  # two layers: the last but one
        ({"weight": 0.5, "layer": 1, "head": 1}, (1, 1)),
        ({"weight": 0.0, "layer": 1}, None),
        ({}, None),
    ],
)
def test_the_guided_head_comes_from_the_recipe(
    tmp_path: Path, guide: dict[str, Any], head: tuple[int, int] | None
) -> None:
    plain = regard.load(untrained(tmp_path / "t", "transformer"))
    manifest = plain.bundle.manifest.model_copy(update={"recipe": {"train": {"guide": guide}}})
    bundle = replace(plain.bundle, manifest=manifest)
    assert guided_head(bundle) == head
    translation = Translator(bundle).translate("the black cat", target="le chat noir")
    assert translation.attention is not None
    assert translation.word_attention is not None
    wanted = translation.attention.mean((0, 1)) if head is None else translation.attention[head]
    np.testing.assert_allclose(translation.word_attention, wanted[:3, :3])


@pytest.mark.parametrize("guide", [{"layer": 10**400}, {"layer": "x" * 10_000_000}, {"head": -1}, {"head": [0]}])
def test_a_guided_head_that_does_not_exist_is_refused(tmp_path: Path, guide: dict[str, Any]) -> None:
    plain = regard.load(untrained(tmp_path / "t", "transformer"))
    recipe = {"train": {"guide": {"weight": 1.0, **guide}}}
    bundle = replace(plain.bundle, manifest=plain.bundle.manifest.model_copy(update={"recipe": recipe}))
    with pytest.raises(InputError, match=r"but has 2 layers of 2 heads: its manifest is damaged") as caught:
        Translator(bundle)
    assert len(str(caught.value)) < 600


def test_a_single_head_is_not_named(tmp_path: Path) -> None:
    plain = regard.load(untrained(tmp_path / "b"))
    manifest = plain.bundle.manifest.model_copy(update={"recipe": {"train": {"guide": {"weight": 1.0}}}})
    assert guided_head(replace(plain.bundle, manifest=manifest)) is None


def test_links_come_from_the_next_row_if_it_was_guided(tmp_path: Path) -> None:
    plain = regard.load(untrained(tmp_path / "b"))
    for weight, shift in ((1.0, 1), (0.0, 0)):
        recipe = {"train": {"guide": {"weight": weight, "shift": 1}}}
        bundle = replace(plain.bundle, manifest=plain.bundle.manifest.model_copy(update={"recipe": recipe}))
        assert guided_shift(bundle) == default_rule(bundle).shift == shift
        translation = Translator(bundle).translate("the black cat", target="le chat noir")
        assert translation.attention is not None
        assert translation.word_attention is not None
        np.testing.assert_allclose(translation.word_attention, translation.attention[0, 0, shift : shift + 3, :3])


def test_an_unknown_word_is_copied_by_the_guided_row() -> None:
    source = Tokenizer.train(["a b"], TokenizerConfig())
    reading = read_source("x y", source, eos=False, longest=9)
    weights = torch.tensor([[0.9, 0.1], [0.1, 0.9], [0.6, 0.4]])[None, None]
    hypothesis = Hypothesis((UNK, UNK, EOS), -1.0, -1.0, (-0.1,) * 3, weights, finished=True)
    assert build_translation(reading, hypothesis, source).text == "x y"
    assert build_translation(reading, hypothesis, source, shift=1).text == "y x"


def test_align_uses_the_guided_head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = untrained(tmp_path / "t", "transformer")
    (tmp_path / "in").write_text("the cat\tle chat\n", encoding="utf-8")
    monkeypatch.setattr("regard.lab.align_corpus.guided_head", lambda bundle: (1, 0))
    assert prepare(AlignRequest(path, data=tmp_path / "in")).forward.rule.heads == ((1, 0),)
    assert prepare(AlignRequest(path, AlignOptions(heads="0.1"), data=tmp_path / "in")).forward.rule.heads == ((0, 1),)
    monkeypatch.setattr("regard.lab.align_corpus.guided_shift", lambda bundle: 1)
    assert prepare(AlignRequest(path, data=tmp_path / "in")).forward.rule.shift == 1
    assert prepare(AlignRequest(path, AlignOptions(shift=0), data=tmp_path / "in")).forward.rule.shift == 0


def test_a_posterior_is_about_the_word_of_its_own_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = untrained(tmp_path / "t", "bahdanau")
    (tmp_path / "in").write_text("the cat\tle chat\n", encoding="utf-8")
    monkeypatch.setattr("regard.lab.align_corpus.guided_shift", lambda bundle: 1)
    assert prepare(AlignRequest(path, data=tmp_path / "in")).forward.rule.shift == 1
    assert prepare(AlignRequest(path, AlignOptions(posterior=1), data=tmp_path / "in")).forward.rule.shift == 0
