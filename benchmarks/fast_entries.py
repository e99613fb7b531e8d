"""The gain of each accelerated implementation: the same work with and without it, in alternating turns.

    python benchmarks/fast_entries.py --json docs/results/fast_entries_cpu.json [--turns 9] [--row NAME] [--entry NAME]
    python benchmarks/fast_entries.py --row "full batches" --json docs/results/fast_entries_cpu_full.json
    python benchmarks/fast_entries.py --device cuda --json docs/results/fast_entries_gpu.json

A row is one piece of work: a training step, or the decoding of some sentences. The registry records which entries run
in it; each of them is then switched off, and both versions take turns. `times` is the median over turns of (time
without the entry) / (time with it); `low` and `high` are the quartiles of these ratios. On a CPU with one thread the
time is the processor time of this process, which other programs disturb less. An entry stays in `regard.fast` if it
gains more than 3 % in some row.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from decoding_measure import random_sentences, settings
from decoding_textbook import wind
from onnx_rounding import exported
from regard.lab.bench.textbook import Textbook, ours_with
from regard.lab.bench.workload import MULTI30K, PAPER, TUTORIAL, Work
from regard.lab.machine import describe_machine
from regard.models.presets import preset
from regard.models.seq2seq import Seq2Seq
from regard.registry import prepare_for_decoding, recorded, without
from regard.runtime.source_text import pad
from regard.search import SearchConfig, decode
from regard.text.special import EOS
from regard.training.loss import batch_loss, real_places

LETTERS = Work("letters", "gru", 60, 128, 256, 128, 256, 12, 12)
"""Words spelled in letters: few rows in the embedding, many of them in a batch."""

Run = Callable[[], object]
Row = dict[str, Any]

MODELS: dict[str, dict[str, Any]] = {
    "luong": {"dropout": 0.0},
    "luong local-p": {"window": "local-p", "dropout": 0.0},
    "bahdanau of two layers": {"encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0},
    "transformer": {"dropout": 0.0},
}
"""Models besides that of `Work`, at Multi30k's size; the first word is the preset."""


def training(
    work: Work,
    device: torch.device,
    autocast: torch.dtype | None,
    model: str = "",
    size: str = "base",
    *,
    half_forced: bool = False,
    full: bool = False,
) -> Run:
    """One training step, forward and backward, without the optimizer.

    `half_forced`: every second word is its own; `full`: no padding, else sentences of half the length and more.
    """
    torch.manual_seed(0)
    if model:
        size = "small" if model == "transformer" else size
        built = Seq2Seq(preset(model.split()[0], size, **MODELS[model]), work.vocabulary, work.vocabulary)
    else:
        built = Seq2Seq(work.config, work.vocabulary, work.vocabulary)
    built.to(device).train()
    batch = work.batch(lengths=None if full else (work.source // 2, work.source)).to(device)
    places = real_places(batch.target_out)
    forced = torch.arange(batch.target_out.shape[1]) % 2 == 0 if half_forced else None

    def run() -> None:
        built.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=autocast, enabled=autocast is not None):
            loss = batch_loss(built, batch, places=places, forced=forced).objective
        torch.autograd.backward(loss)

    return run


def decoding(sentences: int, beam: int, device: torch.device, model: str = "", *, onnx: bool = False) -> Run:
    """Random weights at Multi30k's size; the sentences of the recurrent model end after about 13 words."""
    torch.manual_seed(0)
    if model:
        size = "small" if model == "transformer" else "base"
        built = Seq2Seq(preset(model.split()[0], size, **MODELS[model]), MULTI30K.vocabulary, MULTI30K.vocabulary)
        with torch.no_grad():
            built.output.weight[EOS] = -10.0  # sentences of full length
    else:
        textbook = Textbook(MULTI30K)
        wind(textbook, 13)
        built = ours_with(textbook)
    prepared = exported(built.eval(), int8=True) if onnx else prepare_for_decoding(built.eval().to(device))
    rows = sorted(random_sentences(256, MULTI30K.vocabulary), key=len)
    batch = pad(rows[100 : 100 + sentences], device)
    config = settings(beam) if not model else SearchConfig(beam=beam, longest=14)

    def run() -> None:
        with torch.inference_mode():
            decode(prepared, batch, batch.source_lengths, config, options=replace(config.options, weights=False))

    return run


def attention(device: torch.device, *, gradients: bool) -> Run:
    """Additive attention as a module in a user's model: 64 × 256 queries and 256 keys of 512."""
    from regard.attention import BahdanauAttention

    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    module = BahdanauAttention(512, 512, 512).to(device, dtype)
    rows = 64 if device.type == "cuda" else 4
    queries, states = (torch.randn(rows, 256, 512, device=device, dtype=dtype) for _ in range(2))
    real = torch.ones(rows, 256, dtype=torch.bool, device=device)

    def run() -> None:
        with torch.set_grad_enabled(gradients):
            context: Tensor = module(queries, module.prepare(states, real)).context
            if gradients:
                module.zero_grad(set_to_none=True)
                torch.autograd.backward(context.float().sum())

    return run


def rows(device: torch.device) -> dict[str, Callable[[], Run]]:
    """Each builds a new model, with the given entries switched off."""
    half = torch.bfloat16
    found: dict[str, Callable[[], Run]] = {}
    for work in (TUTORIAL, MULTI30K, *((PAPER,) if device.type == "cuda" else ())):
        for autocast, name in ((None, "float32"), (half, "bf16")):
            found[f"train {work.name} {name}"] = partial(training, work, device, autocast)
    for model in MODELS:
        found[f"train {model} float32"] = partial(training, MULTI30K, device, None, model)
    found["train letters float32"] = partial(training, LETTERS, device, None)
    found["train small luong float32"] = partial(training, TUTORIAL, device, None, "luong", "tiny")
    for work in (TUTORIAL, MULTI30K):
        found[f"train {work.name} float32, half forced"] = partial(training, work, device, None, half_forced=True)
    for autocast, name in ((None, "float32"), (half, "bf16")):
        found[f"train tutorial {name}, full batches"] = partial(training, TUTORIAL, device, autocast, full=True)
    for gradients in (False, True):
        found[f"attention alone{', trained' if gradients else ''}"] = partial(attention, device, gradients=gradients)
    for beam in (1, 5):
        for sentences in (1, 64):
            kind = "greedy" if beam == 1 else f"beam {beam}"
            found[f"{kind}, {sentences} together"] = partial(decoding, sentences, beam, device)
    if device.type == "cpu":
        for beam, kind in ((1, "greedy"), (5, "beam 5")):
            found[f"{kind}, 1 alone, int8 graph"] = partial(decoding, 1, beam, device, onnx=True)
    for model in ("luong", "transformer"):
        found[f"beam 5, 64 together, {model}"] = partial(decoding, 64, 5, device, model)
        found[f"beam 5, 1 alone, {model}"] = partial(decoding, 1, 5, device, model)
    return found


@contextmanager
def switched_off(entry: str | None) -> Iterator[None]:
    with without(*([] if entry is None else [entry])):
        yield


def warm_up(run: Run) -> None:
    for _ in range(3):  # kernels compile in the first call, graphs are captured in the second
        run()


def clocked(run: Run, device: torch.device, seconds: float = 0.08) -> float:
    """Seconds per call, over as many calls as fill `seconds`."""
    alone = device.type == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter
    calls, began = 0, clock()
    while calls == 0 or clock() - began < seconds:
        run()
        calls += 1
        if device.type == "cuda" and calls % 5 == 0:
            torch.cuda.synchronize(device)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (clock() - began) / calls


def measure(
    name: str, build: Callable[[], Run], device: torch.device, turns: int, entries: Sequence[str] = ()
) -> Iterator[Row]:
    """One row for each entry that runs in this work, or for those of `entries` that do."""
    with recorded() as names:
        usual = build()
        warm_up(usual)
    for entry in dict.fromkeys(one for one in names if not entries or one in entries):
        with switched_off(entry):
            other = build()
            warm_up(other)
        times: list[tuple[float, float]] = []
        for turn in range(turns):
            pair: dict[bool, float] = {}
            for off in (False, True) if turn % 2 else (True, False):
                with switched_off(entry if off else None):
                    pair[off] = clocked(other if off else usual, device)
            times.append((pair[False], pair[True]))
        ratios = sorted(slow / fast for fast, slow in times)
        low, _, high = statistics.quantiles(ratios, n=4)
        yield {
            "row": name,
            "entry": entry,
            "milliseconds": round(1e3 * statistics.median(fast for fast, _ in times), 3),
            "without": round(1e3 * statistics.median(slow for _, slow in times), 3),
            "times": round(statistics.median(ratios), 3),
            "low": round(low, 3),
            "high": round(high, 3),
        }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--device", default="cpu")
    options.add_argument("--turns", type=int, default=9)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--row", action="append", default=[], help="only rows whose name contains this (repeatable)")
    options.add_argument("--entry", action="append", default=[], help="only this entry (repeatable)")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    if given.turns < 2:
        options.error("--turns: quartiles need 2 turns or more")
    device = torch.device(given.device)
    torch.set_num_threads(given.threads)
    torch.set_float32_matmul_precision("high")
    record: dict[str, Any] = {**describe_machine(device), "turns": given.turns, "rows": []}
    for name, build in rows(device).items():
        if given.row and not any(part in name for part in given.row):
            continue
        for row in measure(name, build, device, given.turns, given.entry):
            record["rows"].append(row)
            print(
                f"{name:<34} {row['entry']:<26} {row['milliseconds']:9.3f} ms, without {row['without']:9.3f}, "
                f"{row['times']:.2f} times ({row['low']:.2f} to {row['high']:.2f})",
                flush=True,
            )
            if given.json is not None:
                given.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        if device.type == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
