"""A comparison whose runs take a second each."""

from pathlib import Path

import pytest

from regard.lab.compare.plan import Comparison, VariantGrid

RECIPE = """
description = "Reverse a few numbers."
[data]
kind = "reverse"
vocabulary = 12
shortest = 2
longest = 8
train = 48
dev = 12
test = 12
[model]
embedding = 6
encoder_units = 6
decoder_units = 8
[train]
steps = 6
batch_sentences = 8
validate_every = 3
metric = "exact_match"
device = "cpu"
threads = 1
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture
def comparison(recipe: Path) -> Comparison:
    grid = VariantGrid(score=("additive", "general"), also=("vanilla",))
    return Comparison(recipe=str(recipe), seeds=2, sentences=10, shown=2, grid=grid)
