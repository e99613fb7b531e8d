"""A small trained-looking model with its tokenizers, and the bundle it makes."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from regard.bundle import Manifest, load_bundle, save_bundle
from regard.models import Seq2Seq, preset
from regard.text.tokenizer import Tokenizer, TokenizerConfig

SMALL = {"embedding": 4, "encoder_units": 5, "decoder_units": 5, "dropout": 0.0}
Save = Callable[[Path, Seq2Seq], Manifest]
ABOUT: dict[str, Any] = {"source_eos": True, "longest_source": 40, "trained": {"steps": 7}}


@pytest.fixture(scope="session")
def source() -> Tokenizer:
    return Tokenizer.train(["the black cat sat on the mat", "turn off the lights"], TokenizerConfig())


@pytest.fixture(scope="session")
def target() -> Tokenizer:
    return Tokenizer.train(["le chat noir était assis sur le tapis", "éteins les lumières"], TokenizerConfig())


@pytest.fixture
def model(source: Tokenizer, target: Tokenizer) -> Seq2Seq:
    torch.manual_seed(0)
    return Seq2Seq(preset("bahdanau", "tiny", **SMALL), len(source), len(target)).eval()


@pytest.fixture
def folder(tmp_path: Path, model: Seq2Seq, source: Tokenizer, target: Tokenizer) -> Path:
    """A bundle on disk."""
    save_bundle(tmp_path / "run" / "best", model, source, target, **ABOUT)
    return tmp_path / "run" / "best"


@pytest.fixture
def save(source: Tokenizer, target: Tokenizer) -> Save:
    def save(folder: Path, model: Seq2Seq) -> Manifest:
        return save_bundle(folder, model, source, target, **ABOUT)

    return save


def names(folder: Path) -> list[str]:
    """All files of a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def another_user() -> Iterator[None]:
    """Drop the rights of root, if the tests have them."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may grow beyond `most` bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def add(model: Seq2Seq, amount: float) -> Seq2Seq:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(amount)
    return model


def first_weights(folder: Path) -> torch.Tensor:
    return next(load_bundle(folder).model.parameters()).detach().clone()


def flip_bit(data: bytes, random: Random) -> bytes:
    """The same with one bit flipped."""
    changed = bytearray(data)
    changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)
