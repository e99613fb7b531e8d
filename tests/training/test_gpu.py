"""Training on a GPU: bit-equal repetition and resume, bf16, and memory that runs out for real."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.fast.graphs.replay import forget_graphs
from regard.training.journal import Started, Warned
from regard.training.run import train

from .tiny import Listener, entries, equal, stopped, tiny, weights

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
CUDA = {"device": "cuda", "precision": "float32"}
DROPOUT = {"dropout": 0.3, "embedding_dropout": 0.1}


@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_runs_are_repeatable_and_resumable_to_the_bit(cell: str, precision: str, tmp_path: Path) -> None:
    keys = {**CUDA, "precision": precision, "teacher_forcing": 0.5, "steps": 12, "checkpoint_every": 5}
    recipe = tiny(model={**DROPOUT, "cell": cell}, train=keys)
    train(recipe, tmp_path / "one")
    train(recipe, tmp_path / "two")
    assert equal(weights(tmp_path / "one"), weights(tmp_path / "two"))
    stopped(recipe, tmp_path / "three", 7)
    assert train(recipe, tmp_path / "three", resume=True).steps == 6, "an epoch is validated and saved at step 6"
    assert equal(weights(tmp_path / "one"), weights(tmp_path / "three"))


def test_a_transformer_repeats_too(tmp_path: Path) -> None:
    model = {"architecture": "transformer", "width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}
    raw = {**tiny().model_dump(), "model": {**model, "feedforward": 32}}
    from regard.training.recipe import parse_recipe

    recipe = parse_recipe(raw, overrides=["train.device=cuda", "train.steps=6"])
    train(recipe, tmp_path / "one")
    train(recipe, tmp_path / "two")
    assert equal(weights(tmp_path / "one"), weights(tmp_path / "two"))


def test_auto_means_the_gpu_and_bf16(tmp_path: Path) -> None:
    received = Listener()
    train(tiny(train={"device": "auto", "steps": 2, "deterministic": False}), tmp_path / "run", listener=received)
    (started,) = received.of(Started)
    assert (started.device, started.precision) == ("cuda:0", "bf16")


def test_cpu_and_gpu_follow_the_same_curve(tmp_path: Path) -> None:
    for device in ("cpu", "cuda"):
        train(tiny(train={**CUDA, "device": device, "steps": 5}), tmp_path / device)
    here, there = weights(tmp_path / "cpu"), weights(tmp_path / "cuda")
    for name in here:
        torch.testing.assert_close(here[name], there[name], rtol=1e-2, atol=1e-3)


def test_memory_that_runs_out_splits_the_batch(tmp_path: Path) -> None:
    data = {"vocabulary": 2000, "shortest": 30, "longest": 40, "train": 512, "dev": 4}
    model = {"embedding": 64, "encoder_units": 128, "decoder_units": 128, "attention_width": 512}
    keys = {**CUDA, "deterministic": False, "steps": 2, "batch_sentences": 256}
    received = Listener()
    forget_graphs()
    torch.cuda.reset_peak_memory_stats()
    train(tiny(data=data, model=model, train=keys), tmp_path / "fits", listener=received)
    needed, whole = torch.cuda.max_memory_allocated(), torch.cuda.get_device_properties(0).total_memory
    forget_graphs()
    torch.cuda.set_per_process_memory_fraction(0.6 * needed / whole)
    try:
        result = train(tiny(data=data, model=model, train=keys), tmp_path / "split", listener=received)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert result.progress.step == 2
    notes = [note for event in received.of(Started) for note in event.notes]
    warnings = [event.message for event in received.of(Warned)]
    assert [one for one in (*notes, *warnings) if one.startswith("out of memory with 256 sentences")]
    for name, value in weights(tmp_path / "fits").items():
        torch.testing.assert_close(weights(tmp_path / "split")[name], value, rtol=1e-2, atol=2e-3)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_gpus_follow_the_curve_of_one(tmp_path: Path) -> None:
    small = ["data.train=200", "data.dev=8", "train.steps=20", "train.precision=float32", "train.teacher_forcing=1"]
    changes = [word for one in small for word in ("--set", one)]
    start = [sys.executable, "-m", "torch.distributed.run"]
    losses = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        command = [f"--nproc-per-node={workers}", "-m", "regard", "train", "reverse", *changes, "--out", str(folder)]
        subprocess.run([*start, *command], check=True, timeout=300)
        losses.append([entry["loss"] for entry in entries(folder, "step")])
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
