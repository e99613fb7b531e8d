"""Milliseconds of a training step, forward and backward, of decoders other than Bahdanau's: plain and fast loop.

    python benchmarks/step_loop.py [--work multi30k] [--device cuda] [--half] [--only general] [--repeats 5]

Luong's placement with input feeding, and local-p at the input; the sizes are those of `regard bench`. The difference is
the largest one of all gradients, relative to the largest number of each, in float32: in bf16 the query's projection of
additive attention gets nothing but noise before training, plain or fast. No time is printed beyond `--most`. The plain
loop computes the gradient of each weight at each step and launches every operation by itself.
"""

import argparse
from functools import partial
from typing import Any

import torch

from regard.data.batch import Batch
from regard.lab.bench.measure import extra_memory, take_turns
from regard.lab.bench.textbook import largest_difference
from regard.lab.bench.workload import WORKS, Work
from regard.models.model_config import RecurrentConfig
from regard.models.seq2seq import Seq2Seq
from regard.registry import without
from regard.training.loss import batch_loss, real_places

FED = {"placement": "output", "input_feeding": True, "readout": "attentional"}
CASES: dict[str, dict[str, Any]] = {
    "dot, fed, gru": {"score": "dot", "cell": "gru", **FED},
    "dot, fed, lstm": {"score": "dot", "cell": "lstm", **FED},
    "general, fed, gru": {"score": "general", "cell": "gru", **FED},
    "general, fed, lstm": {"score": "general", "cell": "lstm", **FED},
    "concat, fed, gru": {"score": "concat", "cell": "gru", **FED},
    "additive, fed, gru": {"score": "additive", "cell": "gru", **FED},
    "additive, fed, lstm": {"score": "additive", "cell": "lstm", **FED},
    "additive, local-p, input, gru": {"score": "additive", "window": "local-p", "cell": "gru"},
    "general, input, two lstm, dropout": {"score": "general", "cell": "lstm", "decoder_layers": 2, "dropout": 0.2},
}
FAST = ("decode_captured", "decode_deferred")


def built(work: Work, choices: dict[str, Any], device: torch.device) -> Seq2Seq:
    torch.manual_seed(0)
    # A dot compares states as they are: both directions together are as wide as the decoder.
    halved = {"encoder_units": work.units // 2} if choices["score"] == "dot" else {}
    config = RecurrentConfig.model_validate({**work.config.model_dump(), **halved, **choices})
    return Seq2Seq(config, work.vocabulary, work.vocabulary).to(device)


def step(model: Seq2Seq, batch: Batch, places: torch.Tensor, half: bool, fast: bool) -> None:
    torch.manual_seed(0)
    model.zero_grad(set_to_none=True)
    with without(*(() if fast else FAST)):
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16, enabled=half):
            loss = batch_loss(model, batch, places=places, scale=1e-3).objective
        torch.autograd.backward(loss)


def gradients(model: Seq2Seq) -> list[torch.Tensor]:
    return [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", choices=WORKS, default="multi30k")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--half", action="store_true", help="bf16 by autocast")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=float, default=2e-3)
    options = parser.parse_args()
    work, device = WORKS[options.work], torch.device(options.device)
    batch = work.batch().to(device)
    places = real_places(batch.target_out)
    for name, choices in CASES.items():
        if options.only not in name:
            continue
        model = built(work, choices, device)
        runs = {kind: partial(step, model, batch, places, options.half, kind == "fast") for kind in ("plain", "fast")}
        found = {}
        for fast in (False, True):
            for _ in range(3):  # a shape is captured the second time it comes
                step(model, batch, places, False, fast)
            found["fast" if fast else "plain"] = gradients(model)
        difference = largest_difference(zip(found["plain"], found["fast"], strict=True))
        line = f"{work.name:9} {'bf16' if options.half else 'float32':7} {name:34} difference {difference:.1e}"
        if difference <= options.most:
            times = take_turns(runs, options.repeats, device)
            memory = {kind: extra_memory(run, device) for kind, run in runs.items()}
            line += "".join(
                f"   {kind} {ms:.1f} ms" + ("" if memory[kind] is None else f" ({memory[kind]:.0f} MiB)")
                for kind, ms in times.items()
            )
            line += f"   {times['plain'] / times['fast']:.2f} x"
        print(line, flush=True)
        del model
        if device.type == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
