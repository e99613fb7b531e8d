"""Translators that the tests of this folder share."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import regard
from regard.text.tokenizer_config import Kind

from .bundles import trained, untrained


@pytest.fixture(scope="session")
def reverser(tmp_path_factory: pytest.TempPathFactory) -> regard.Translator:
    """A model that learned to reverse numbers; its source carries no EOS."""
    return regard.load(trained(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., regard.Translator]:
    """random_model("luong", "bpe", eos=False): an untrained model of a kind."""

    @cache
    def make(name: str = "bahdanau", kind: Kind = "word", eos: bool = True, seed: int = 0) -> regard.Translator:
        folder: Path = tmp_path_factory.mktemp("bundle") / name
        return regard.load(untrained(folder, name, kind, eos=eos, seed=seed))

    return make
