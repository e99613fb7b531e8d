"""A run that takes a second: a tiny model learns to reverse a few numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from regard.data.batch import Batch
from regard.data.batching import EpochBatcher
from regard.data.dataset import encode_pairs
from regard.data.synthetic import synthetic
from regard.models.model_config import RecurrentConfig
from regard.models.seq2seq import Seq2Seq
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.training.journal import Event, Stepped, read_journal
from regard.training.recipe import Recipe, parse_recipe
from regard.training.run import train

MODEL = {"embedding": 6, "encoder_units": 6, "decoder_units": 8}
TABLES: dict[str, Any] = {
    "data": {"kind": "reverse", "vocabulary": 12, "shortest": 2, "longest": 5, "train": 48, "dev": 6, "test": 4},
    "text": {"source_eos": False},
    "model": MODEL,
    "train": {"steps": 12, "batch_sentences": 8, "metric": "exact_match", "deterministic": True, "device": "cpu"},
}


def tiny(**tables: dict[str, Any]) -> Recipe:
    """The recipe above with some keys changed: tiny(train={"steps": 3})."""
    changed = {name: {**TABLES.get(name, {}), **tables.get(name, {})} for name in {*TABLES, *tables}}
    return parse_recipe(changed)


def weights(folder: Path, name: str = "last") -> dict[str, Tensor]:
    """The weights of a run's checkpoint."""
    return load_file(folder / name / "model.safetensors")


def equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    """To the bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def entries(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The journal's entries of one kind."""
    return [entry for entry in read_journal(folder / "journal.jsonl") if entry["event"] == kind]


class Listener(list[Event]):
    """Keeps the events of a run."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]


class Stop(Exception):
    """What a listener raises to end a run as a kill would."""


def stop_at(step: int) -> Callable[[Event], None]:
    def listener(event: Event) -> None:
        if isinstance(event, Stepped) and event.step == step:
            raise Stop

    return listener


def stopped(recipe: Recipe, folder: Path, step: int) -> Path:
    """A run that was killed in this step."""
    with pytest.raises(Stop):
        train(recipe, folder, listener=stop_at(step))
    return folder


def model_and_batch(rows: int = 9, dtype: torch.dtype = torch.float64, **model: Any) -> tuple[Seq2Seq, Batch]:
    """A model without dropout in double precision, and one batch of sentences of several lengths."""
    pairs = synthetic("reverse", 12, 2, 7, rows)
    tokenizer = Tokenizer.train((pair.source for pair in pairs), TokenizerConfig())
    data = encode_pairs(pairs, tokenizer, tokenizer)
    batch = EpochBatcher(data, sentences=rows, bucket=False).batch(torch.arange(rows).numpy())
    torch.manual_seed(0)
    built = Seq2Seq(RecurrentConfig(**{**MODEL, **model}), len(tokenizer), len(tokenizer))
    return built.to(dtype).train(), batch
