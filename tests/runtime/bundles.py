"""Bundles to use in tests: untrained ones of every kind in a moment, and one that learned to reverse in seconds."""

from functools import cache
from pathlib import Path
from typing import Any

import torch

import regard
from regard.bundle import save_bundle
from regard.models import Seq2Seq, preset
from regard.text.normalise import Normaliser
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import Kind, TokenizerConfig

ENGLISH = ["the black cat sat on the mat", "jane visits africa in september", "don't turn off the lights, please!"]
FRENCH = ["le chat noir était assis sur le tapis", "jane visite l'afrique en septembre", "n'éteins pas les lumières !"]
LONGEST = 12
KINDS: tuple[Kind, ...] = ("word", "character", "bpe", "unigram")
SMALL: dict[str, Any] = {"embedding": 8, "encoder_units": 8, "decoder_units": 8}
MODELS: dict[str, dict[str, Any]] = {
    "bahdanau": SMALL,
    "luong": SMALL,
    "vanilla": SMALL,
    "transformer": {"width": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 2, "feedforward": 16},
}

RECIPE = """
description = "Reverse short sequences."
[data]
kind = "reverse"
vocabulary = 12
shortest = 3
longest = 6
train = 3000
dev = 12
test = 60
[text]
source_eos = false
longest_source = 20
[model]
preset = "bahdanau"
size = "tiny"
embedding = 24
encoder_units = 32
decoder_units = 32
[train]
steps = 150
batch_sentences = 48
learning_rate = 1e-2
schedule = "cosine"
metric = "exact_match"
validate_every = 150
threads = 1
"""


def tokenizers(kind: Kind = "word") -> tuple[Tokenizer, Tokenizer]:
    config = TokenizerConfig(
        kind=kind,
        vocabulary=60 if kind in ("bpe", "unigram") else None,
        normalise=Normaliser(lowercase=True, drop_final_stop=True),
    )
    return Tokenizer.train(ENGLISH, config), Tokenizer.train(FRENCH, config)


def untrained(
    folder: Path,
    name: str = "bahdanau",
    kind: Kind = "word",
    *,
    eos: bool = True,
    seed: int = 0,
    model: dict[str, Any] | None = None,
    **search: Any,
) -> Path:
    """A bundle in double precision whose weights are random, and large enough for its outputs to differ."""
    source, target = tokenizers(kind)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        built = Seq2Seq(preset(name, "tiny", **MODELS[name], **(model or {})), len(source), len(target)).double()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.mul_(2.5)
    save_bundle(folder, built, source, target, source_eos=eos, longest_source=LONGEST, search=search)
    return folder


def pronouncing(folder: Path, *, eos: bool = True, **search: Any) -> Path:
    """A random model that reads the letters of one word, from a to z and the apostrophe, and writes phones."""
    letters = TokenizerConfig(kind="character", normalise=Normaliser(lowercase=True))
    source = Tokenizer.train(["abcdefghijklmnopqrstuvwxyz'"], letters)
    target = Tokenizer.train(["AA AH EH K L N S T W Z"], TokenizerConfig(kind="word", words="spaces"))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        built = Seq2Seq(preset("bahdanau", "tiny", **SMALL), len(source), len(target)).double()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.mul_(2.5)
    save_bundle(folder, built, source, target, source_eos=eos, longest_source=LONGEST, search=search)
    return folder


@cache
def trained(base: Path) -> Path:
    """A run that learned to reverse sequences of 3 to 6 numbers, made once for each test process."""
    recipe = base / "reverse-small.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    folder = base / "reverse-small"
    if not folder.exists():
        regard.train(recipe, folder)
    return folder
