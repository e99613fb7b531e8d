"""Small experiments about the claims of tutorials on attention; docs/claims.md has the verdicts.

    python benchmarks/claims.py numbers --results runs/claims                        no model needed, a minute
    python benchmarks/claims.py demo --model runs/demo --results runs/claims         needs a trained `regard demo`
    python benchmarks/claims.py german --model runs/multi30k-en-de --results runs/claims
    python benchmarks/claims.py directions --seeds 0 1 --results runs/claims         trains: one or two directions
    python benchmarks/claims.py draw --results runs/claims --out docs/results        merges everything into claims.json

Every experiment writes NAME.json and is skipped if that exists; --only chooses some.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from claims_demo import DEMO, german_classes
from regard.data import phrasebook
from regard.data.splits import load_split
from regard.lab.evaluate_model import measure
from regard.models.presets import preset
from regard.models.seq2seq import Seq2Seq
from regard.runtime.source_text import pad
from regard.runtime.translator import load
from regard.text.special import BOS
from regard.training.recipe import load_recipe
from regard.training.run import train

Record = dict[str, Any]


def variance() -> Record:
    """Dot products of random vectors by width, and the softmax over 32 of them."""
    random, rows = np.random.default_rng(0), []
    for width in (4, 16, 64, 256, 1024):
        queries, keys = random.standard_normal((2000, width)), random.standard_normal((2000, 32, width))
        scores = np.einsum("bw,bkw->bk", queries, keys)
        row: Record = {"width": width, "variance": float(scores.var())}
        for name, divisor in (("plain", 1.0), ("scaled", np.sqrt(width))):
            weights = np.exp(scores / divisor - (scores / divisor).max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            # The gradient of softmax is diag(a) - aa': nothing passes where one weight is 1.
            jacobian = np.einsum("bk,kj->bkj", weights, np.eye(32)) - np.einsum("bk,bj->bkj", weights, weights)
            row[name] = {
                "largest_weight": float(weights.max(axis=1).mean()),
                "gradient": float(np.sqrt((jacobian**2).sum(axis=(1, 2))).mean()),
            }
        rows.append(row)
    return {"rows": rows}


def similarity() -> Record:
    """How often the largest dot product belongs to another vector than the most similar one (largest cosine)."""
    random, rows = np.random.default_rng(0), []
    for spread in (0.0, 0.1, 0.25, 0.5, 1.0):
        queries, keys = random.standard_normal((5000, 64)), random.standard_normal((5000, 32, 64))
        keys /= np.linalg.norm(keys, axis=2, keepdims=True)
        cosines = np.einsum("bw,bkw->bk", queries, keys)
        dots = cosines * np.exp(spread * random.standard_normal((5000, 32)))
        rows.append({"spread": spread, "another": float((dots.argmax(1) != cosines.argmax(1)).mean())})
    return {"rows": rows}


def packing_cost() -> Record:
    """Forward and backward of a bidirectional LSTM over padded and over packed rows, in turns, medians of 15."""
    torch.set_num_threads(1)
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    return {"rows": [row for device in devices for row in _packing_cost(torch.device(device))]}


def _packing_cost(device: torch.device) -> list[Record]:
    torch.manual_seed(0)
    encoder, rows = nn.LSTM(64, 128, batch_first=True, bidirectional=True).to(device), []
    for low, high in ((3, 12), (5, 50), (5, 100)):
        lengths = torch.randint(low, high + 1, (64,))
        embedded = torch.randn(64, int(lengths.max()), 64, device=device)

        def padded(given: torch.Tensor = embedded) -> None:
            encoder(given)[0].sum().backward()

        def packed(given: torch.Tensor = embedded, real: torch.Tensor = lengths) -> None:
            encoder(pack_padded_sequence(given, real, batch_first=True, enforce_sorted=False))[0].data.sum().backward()

        times: dict[str, list[float]] = {"padded": [], "packed": []}
        for _ in range(15):
            for name, work in (("padded", padded), ("packed", packed)):
                times[name].append(1000 * _seconds(work, device))
        filled = 1 - float(lengths.sum()) / embedded[..., 0].numel()
        row = {"device": device.type, "lengths": [low, high], "padding": filled}
        rows.append(row | {name: statistics.median(some) for name, some in times.items()})
    return rows


def _seconds(work: Callable[[], None], device: torch.device) -> float:
    """CPU time, which other programs do not affect; on a GPU the time until it is done."""
    if device.type == "cpu":
        started = time.process_time()
        work()
        return time.process_time() - started
    torch.cuda.synchronize()
    started = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - started


def gradients() -> Record:
    """How much of the loss's gradient reaches the middle source word before training, by length of the sentence."""
    rows = []
    for name in ("vanilla", "bahdanau"):
        for length in (5, 10, 20, 40, 80):
            torch.manual_seed(0)
            model = Seq2Seq(preset(name, "small", dropout=0.0), 100, 100)
            ids = torch.randint(4, 100, (32, length))
            kept: list[torch.Tensor] = []

            def keep(module: nn.Module, given: Any, output: torch.Tensor, kept: list[torch.Tensor] = kept) -> None:
                output.retain_grad()
                kept.append(output)

            handle = model.encoder.embedding.register_forward_hook(keep)  # type: ignore[union-attr]
            tokens = torch.cat([torch.full((32, 1), BOS), ids[:, :-1]], dim=1)
            logits = model.logits(model(pad(ids.tolist(), torch.device("cpu")), tokens).features)
            nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten()).backward()  # type: ignore[no-untyped-call]
            handle.remove()
            found = kept[0].grad
            assert found is not None
            norms = found.norm(dim=-1).mean(dim=0) * length * 32  # of the summed loss: lengths can be compared
            middle = float(norms[length // 2])
            rows.append({"model": name, "length": length, "middle": middle, "first": float(norms[0])})
    return {"rows": rows}


def parameters() -> Record:
    """The parameters of each score and of the whole model, at the paper's size and the demo's."""
    rows = []
    sizes = {"paper": ("rnnsearch", None, 30_000, {}), "demo": ("bahdanau", "tiny", 500, {"encoder_units": 128})}
    for name, (base, size, vocabulary, more) in sizes.items():
        for score in ("additive", "general", "dot"):
            units = preset(base, size, **more).model_dump()["encoder_units"]
            width = 2 * units  # dot wants a query as wide as the states
            model = Seq2Seq(preset(base, size, **more, score=score, decoder_units=width), vocabulary, vocabulary)
            own = sum(one.numel() for one in model.decoder.attention.parameters())  # type: ignore[union-attr, misc]
            rows.append({"size": name, "score": score, "own": own, "all": model.parameters_count})
    return {"rows": rows}


NUMBERS: dict[str, Callable[[], Record]] = {
    "variance": variance,
    "similarity": similarity,
    "packing_cost": packing_cost,
    "gradients": gradients,
    "parameters": parameters,
}
ENCODERS = {
    "two directions of 128": (),
    "one direction of 128": ("model.bidirectional=false",),
    "one direction of 256": ("model.bidirectional=false", "model.encoder_units=256"),
}


def directions(name: str, seed: int, given: argparse.Namespace) -> Record:
    """The demo's model with one or two reading directions, the same steps: quality and links on unseen sentences."""
    folder = given.runs / f"claims-{name.replace(' ', '-')}-{seed}"
    overrides = [
        f"train.steps={given.steps}", "data.train=40000", "train.validate_every=500", f"train.seed={seed}",
        "train.threads=1", "train.device=cpu", "model.initial=projection", *ENCODERS[name],
    ]  # fmt: skip
    if train("demo", folder, overrides=overrides, resume=(folder / "last").exists()).reason == "interrupted":
        raise SystemExit(f"{folder.name} was stopped; the same command continues")
    found = measure(load(folder), phrasebook.pairs("en-fr", "test", given.count)).json()
    keys = ("exact_match", "bleu", "aer", "entropy", "parameters")
    return {"encoder": name, "seed": seed} | {key: found[key] for key in keys if key in found}


def leave(name: str, work: Callable[[], Record], given: argparse.Namespace) -> None:
    """Run an experiment and write its result, unless it exists or was not requested."""
    path = given.results / f"{name}.json"
    if given.only and name not in given.only:
        return
    if path.exists():
        print(f"{time.strftime('%T')} {name} is there", flush=True)
        return
    started = time.monotonic()
    record = {"what": (work.func if isinstance(work, partial) else work).__doc__, **work()}
    record["seconds"] = round(time.monotonic() - started, 1)
    given.results.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    print(f"{time.strftime('%T')} {name}: {json.dumps(record, ensure_ascii=False)[:400]}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=["numbers", "demo", "german", "directions", "draw"])
    options.add_argument("--model", type=Path, help="a trained demo")
    options.add_argument("--pair", default="en-fr", choices=phrasebook.PAIRS)
    options.add_argument("--tag", default="", help="suffix of the result names of a second model, as in -plain")
    options.add_argument("--only", nargs="+", default=[])
    options.add_argument("--encoder", choices=list(ENCODERS), nargs="+", default=list(ENCODERS))
    options.add_argument("--seeds", type=int, nargs="+", default=[0])
    options.add_argument("--steps", type=int, default=1200)
    options.add_argument("--count", type=int, default=400, help="unseen sentences")
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--results", type=Path, default=Path("runs/claims"), help="one file for each experiment")
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    options.add_argument("--machine", default="")
    given = options.parse_args()
    if given.what == "numbers":
        for name, work in NUMBERS.items():
            leave(name, work, given)
    elif given.what == "demo":
        translator = load(given.model)
        for name, measured in DEMO.items():
            leave(f"{name}{given.tag}", partial(measured, translator, given.pair, given.count), given)
    elif given.what == "german":
        pairs = load_split(load_recipe("multi30k-en-de", ()).data, "test").pairs
        leave("german_classes", partial(german_classes, load(given.model), pairs, given.count), given)
    elif given.what == "directions":
        for seed in given.seeds:
            for name in given.encoder:
                leave(f"directions-{list(ENCODERS).index(name)}-{seed}", partial(directions, name, seed, given), given)
    else:
        found = {
            path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(given.results.glob("*.json"))
        }
        record = {"date": date.today().isoformat(), "machine": given.machine, "experiments": found}
        given.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, ensure_ascii=False, indent=1)
        (given.out / "claims.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
