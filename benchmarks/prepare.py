"""Time to prepare a recipe's corpus with an empty cache, and the memory of its data in training.

    REGARD_DATA=DIR python benchmarks/prepare.py [europarl-en-fr] [--out docs/results/prepare.json]

Prepares into an empty cache, then opens that cache again in a new process and cuts every batch of an epoch from it, as
training does; no model is built for that. A thousand pairs are compared with what the tokenizers say of their texts.
With --train, a third process begins with an empty cache too and trains a tiny model for 30 steps.
"""

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date
from pathlib import Path

from regard.data.batching import EpochBatcher
from regard.data.dataset import PieceLimits
from regard.data.pipeline import encode_corpus, open_training, train_tokenizers
from regard.data.worker_pool import worker_count
from regard.training.recipe import Recipe, load_recipe
from regard.training.run import train as run

MEGABYTE = 1024  # /proc counts in KiB


def memory(process: int | str, name: str) -> float:
    """A line of /proc/PID/status in MiB; 0 when the process is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / MEGABYTE for line in lines if line.startswith(f"{name}:")), 0.0)


class Watcher(threading.Thread):
    """Peak memory of this process and its children together, sampled ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.done = 0.0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.1):
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            self.most = max(self.most, memory("self", "VmRSS") + sum(memory(child, "VmRSS") for child in children))


def limits(recipe: Recipe) -> PieceLimits:
    return PieceLimits(recipe.text.longest_source, recipe.text.longest_target)


def prepare(recipe: Recipe) -> dict[str, object]:
    """Both passes with an empty cache."""
    watcher = Watcher()
    watcher.start()
    corpus = open_training(recipe.data)
    before, cpu = time.perf_counter(), _cpu()
    source, target = train_tokenizers(corpus, recipe.text)
    middle = time.perf_counter()
    encoded, notes = encode_corpus(corpus, source, target, limits(recipe))
    after, used = time.perf_counter(), _cpu() - cpu
    watcher.done.set()
    wanted = set(random.Random(0).sample(range(len(encoded)), min(1000, len(encoded))))
    numbers = {int(encoded.numbers[item]): item for item in wanted}
    pairs = enumerate(corpus.pairs if isinstance(corpus.pairs, list) else corpus.pairs())
    for number, pair in pairs:
        if number in numbers:
            item = numbers[number]
            assert encoded.source[item].tolist() == source.encode_ids(pair.source)
            assert encoded.target[item].tolist() == target.encode_ids(pair.target)
    pieces = (len(encoded.source.ids), len(encoded.target.ids))
    return {
        "pairs": len(encoded), "pieces": pieces, "notes": [*notes, *encoded.notes],
        "tokenizers_seconds": middle - before, "encode_seconds": after - middle, "seconds": after - before,
        "cpu_seconds": used, "peak_mib_with_workers": watcher.most,
    }  # fmt: skip


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def epoch(recipe: Recipe) -> dict[str, object]:
    """From the cache to the last batch of an epoch; memory is that of the whole process, torch included."""
    at_first = memory("self", "VmHWM")
    began = time.perf_counter()
    corpus = open_training(recipe.data)
    source, target = train_tokenizers(corpus, recipe.text)
    encoded, _ = encode_corpus(corpus, source, target, limits(recipe))
    opened = time.perf_counter()
    config = recipe.train
    batcher = EpochBatcher(encoded, tokens=config.batch_tokens, sentences=config.batch_sentences, seed=config.seed)
    batches = (batcher.batch(items) for items in batcher.plan())
    tokens = sum(int((batch.source_lengths + batch.target_lengths).sum()) for batch in batches)
    return {
        "open_seconds": opened - began, "batches_seconds": time.perf_counter() - opened, "tokens": tokens,
        "peak_mib": memory("self", "VmHWM"), "imports_mib": at_first,
        "own_mib": memory("self", "RssAnon"), "mapped_mib": memory("self", "RssFile"),
    }  # fmt: skip


def train(recipe: str) -> dict[str, object]:
    """A whole run of a tiny model, preparing included."""
    small = ["model.preset=bahdanau", "model.size=tiny", "train.batch_tokens=1000", "train.steps=30", "train.average=0"]
    changes = [*small, "train.validate_sentences=20", "train.validate_every=30"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REGARD_CACHE"] = f"{folder}/cache"
        run(recipe, f"{folder}/run", overrides=changes)
    return {"peak_mib": memory("self", "VmHWM")}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("recipe", nargs="?", default="europarl-en-fr")
    options.add_argument("--out", type=Path)
    options.add_argument("--train", action="store_true", help="train a tiny model as well")
    options.add_argument("--part", choices=["epoch", "train"], help=argparse.SUPPRESS)
    given = options.parse_args()
    recipe = load_recipe(given.recipe)
    if given.part is not None:
        print(json.dumps(epoch(recipe) if given.part == "epoch" else train(given.recipe)))
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REGARD_CACHE"] = folder
        load = os.getloadavg()[0]
        found: dict[str, object] = {
            "recipe": given.recipe, "date": date.today().isoformat(), "machine": platform.machine(),
            "workers": worker_count(), "load_before": load, "prepare": prepare(recipe),
            "load_after": os.getloadavg()[0],
        }  # fmt: skip
        for part in ("epoch", "train") if given.train else ("epoch",):
            command = [sys.executable, __file__, given.recipe, "--part", part]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found[part] = json.loads(done.stdout)
        found["cache_mib"] = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 2**20
    text = json.dumps(found, indent=2, ensure_ascii=False)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
