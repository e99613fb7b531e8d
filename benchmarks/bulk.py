"""Bulk translation by Ray: one worker and two, the same sentences, the same output.

    python benchmarks/bulk.py --data DATA [--model en-fr] [--sentences 200000] [--json docs/results/bulk.json]

English sentences of Tatoeba's training set, from the start again where there are fewer, through the int8 ONNX graphs of
a model. A worker has one thread. Times include the start of Ray and of the workers, so few sentences say little.
"""

import argparse
import hashlib
import json
import os
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from boxed_data import tatoeba
from regard.export.write_folder import export_onnx
from regard.lab.bulk.run_bulk import Bulk, translate_bulk
from regard.lab.machine import describe_machine

WORKERS = (1, 2)


def digest(folder: Path) -> str:
    """Of all parts, in their order."""
    found = hashlib.sha256()
    for part in sorted(folder.rglob("part-*")):
        found.update(part.read_bytes())
    return found.hexdigest()


def measure(bulk: Bulk, workers: int) -> dict[str, Any]:
    start = time.perf_counter()
    done = translate_bulk(bulk, "ray", workers=workers)
    seconds = time.perf_counter() - start
    return {
        "workers": done.workers,
        "rows": done.rows,
        "bad": done.bad,
        "seconds": round(seconds, 1),
        "sentences_per_second": round(done.rows / seconds, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--model", default="en-fr")
    options.add_argument("--sentences", type=int, default=200_000)
    options.add_argument("--beam", type=int, default=1)
    options.add_argument("--rows", type=int, default=2_000, help="rows of a part")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    sources = [source for source, _ in tatoeba(given.data, "train")]
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        export_onnx(Path(given.model), place / "model", int8=True)
        lines = islice(cycle(sources), given.sentences)
        (place / "in.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        runs, digests = [], set()
        for workers in WORKERS:
            out = place / f"out-{workers}"
            search = {"beam": given.beam}
            bulk = Bulk(str(place / "model"), str(place / "in.txt"), str(out), search=search, rows=given.rows)
            runs.append(measure(bulk, workers))
            digests.add(digest(out))
            print(runs[-1], flush=True)
    ratio = runs[1]["sentences_per_second"] / runs[0]["sentences_per_second"]
    print(f"two workers: {ratio:.2f} times one; the same output: {len(digests) == 1}")
    if given.json:
        record = {**describe_machine(torch.device("cpu")), "model": given.model,
                  "sentences": given.sentences, "beam": given.beam}  # fmt: skip
        record |= {"runs": runs, "ratio": round(ratio, 2), "same_output": len(digests) == 1}
        given.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
