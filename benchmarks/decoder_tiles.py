"""Tile sizes of the fused decoder's kernels, one changed at a time: milliseconds of all steps, replayed from a graph.

    python benchmarks/decoder_tiles.py [--size paper] [--kernel mix] [--float32]

Sizes: the paper's (batch 80, 50 × 50 words, 1000 units), captions in large batches, and long sentences. The best go
into `Tiles` and `LONG` in src/regard/fast/recurrent/bahdanau_launch.py.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from regard.fast.recurrent import bahdanau_launch as decoder

SHORT, LONG = decoder.TILES, decoder.LONG
SIZES = {"paper": (80, 50, 50, 1000), "captions": (384, 20, 20, 512), "long": (32, 200, 200, 512)}
"""Rows, source and target words, units; keys are as wide as a state, values twice as wide."""
CHOICES: dict[str, list[Any]] = {
    "score": [(4, 512, 4), (4, 512, 2), (2, 512, 2), (2, 256, 1), (1, 1024, 1), (1, 512, 1), (8, 128, 4)],
    "mix": [(8, 128, 4), (8, 64, 2), (8, 64, 1), (8, 32, 1), (4, 64, 1), (4, 32, 1), (2, 128, 1), (16, 32, 1)],
    "mix_back": [(4, 512, 2), (4, 512, 4), (4, 256, 1), (2, 512, 1), (2, 256, 1), (1, 1024, 1), (1, 512, 1)],
    "query_back": [(16, 128, 4), (16, 64, 1), (8, 64, 1), (8, 32, 1), (4, 128, 1), (4, 64, 1), (8, 64, 2)],
    "cell_back": [(256, 2), (256, 1), (128, 1), (64, 1)],
}


def random(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype) * 0.1


def milliseconds(run: Callable[[], object]) -> float:
    """The median of ten replays."""
    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(10):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        graph.replay()
        last.record()
        torch.cuda.synchronize()
        times.append(first.elapsed_time(last))
    return sorted(times)[5]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=[*SIZES], help="only these")
    parser.add_argument("--kernel", choices=[*CHOICES], help="only this")
    parser.add_argument("--float32", action="store_true", help="not in bf16")
    options = parser.parse_args()
    dtype = torch.float32 if options.float32 else torch.bfloat16
    for size in [options.size] if options.size else SIZES:
        measure(size, [options.kernel] if options.kernel else [*CHOICES], dtype)


def measure(size: str, names: list[str], dtype: torch.dtype) -> None:
    batch, source, target, units = SIZES[size]
    make = partial(random, dtype=dtype)
    gates, hidden = make(target, batch, 3 * units), make(batch, units)
    keys, values = make(batch, source, units), make(batch, source, 2 * units)
    real = torch.ones(batch, source, dtype=torch.bool, device="cuda")
    weights = make(4 * units, units), make(3 * units), make(units), make(3 * units, 2 * units)
    given = gates, hidden, None, keys, values, real, *weights
    results, kept = decoder.forward(*given)
    outside = [make(*result.shape) for result in results]
    tiles = SHORT if source <= decoder.UNROLLED else LONG
    for name in names:
        for choice in CHOICES[name]:
            decoder.TILES = decoder.LONG = replace(tiles, **{name: choice})
            if name in ("score", "mix"):
                time = milliseconds(lambda: decoder.forward(*given))
            else:
                time = milliseconds(lambda: decoder.backward(outside, given, kept))
            chosen = " *" if getattr(tiles, name) == choice else ""
            print(f"{size:<9} {name:<11} {choice!s:<15} {time:7.3f} ms{chosen}", flush=True)


if __name__ == "__main__":
    main()
