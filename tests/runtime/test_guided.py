"""A head that was taught to align is the one that links and copied words are read from."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.lab.align_job import Asked, prepare
from regard.runtime.guided import guided_head
from regard.runtime.translator import Translator

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
def test_the_recipe_says_which(tmp_path: Path, guide: dict[str, Any], head: tuple[int, int] | None) -> None:
    plain = regard.load(untrained(tmp_path / "t", "transformer"))
    manifest = plain.bundle.manifest.model_copy(update={"recipe": {"train": {"guide": guide}}})
    bundle = replace(plain.bundle, manifest=manifest)
    assert guided_head(bundle) == head
    translation = Translator(bundle).translate("the black cat", target="le chat noir")
    assert translation.attention is not None
    assert translation.word_attention is not None
    wanted = translation.attention.mean((0, 1)) if head is None else translation.attention[head]
    np.testing.assert_allclose(translation.word_attention, wanted[:3, :3])


def test_one_head_needs_no_name(tmp_path: Path) -> None:
    plain = regard.load(untrained(tmp_path / "b"))
    manifest = plain.bundle.manifest.model_copy(update={"recipe": {"train": {"guide": {"weight": 1.0}}}})
    assert guided_head(replace(plain.bundle, manifest=manifest)) is None


def test_align_reads_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = untrained(tmp_path / "t", "transformer")
    (tmp_path / "in").write_text("the cat\tle chat\n", encoding="utf-8")
    monkeypatch.setattr("regard.lab.align.guided_head", lambda bundle: (1, 0))
    assert prepare(Asked(path, data=tmp_path / "in")).forward.rule.heads == ((1, 0),)
    assert prepare(Asked(path, data=tmp_path / "in", heads="0.1")).forward.rule.heads == ((0, 1),)
