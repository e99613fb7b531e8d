"""Tile sizes of the fused decoder's kernels, one changed at a time: milliseconds of all steps, replayed from a graph.

    python benchmarks/decoder_tiles.py

The sizes are those of the paper (batch 80, 50 × 50 words, 1000 units, bfloat16). The best go into `Tiles` in
src/regard/models/rnn/fused/decoder.py.
"""

from collections.abc import Callable
from dataclasses import replace

import torch

from regard.models.rnn.fused import decoder
from regard.models.rnn.fused.decoder import Tiles

BATCH, SOURCE, TARGET, UNITS, WIDTH, VALUE = 80, 50, 50, 1000, 1000, 2000
CHOICES = {
    "score": [(4, 512, 4), (4, 512, 2), (2, 512, 2), (8, 512, 4), (2, 512, 4), (4, 256, 2), (8, 128, 4), (4, 128, 2)],
    "mix": [(16, 64, 4), (16, 128, 4), (8, 128, 4), (16, 32, 2), (32, 32, 2), (8, 64, 2), (16, 64, 2), (32, 32, 4)],
    "mix_back": [(4, 512, 4), (4, 256, 4), (8, 256, 4), (4, 512, 2), (2, 512, 2), (2, 512, 4), (4, 256, 2)],
    "query_back": [(64, 32, 2), (16, 32, 2), (32, 32, 2), (16, 64, 2), (32, 64, 2), (32, 128, 4), (16, 128, 4)],
}


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * 0.1


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
    gates, hidden = random(TARGET, BATCH, 3 * UNITS), random(BATCH, UNITS)
    keys, values = random(BATCH, SOURCE, WIDTH), random(BATCH, SOURCE, VALUE)
    real = torch.ones(BATCH, SOURCE, dtype=torch.bool, device="cuda")
    weights = random(WIDTH + 3 * UNITS, UNITS), random(3 * UNITS), random(WIDTH), random(3 * UNITS, VALUE)
    given = gates, hidden, None, keys, values, real, *weights
    results, kept = decoder.forward(*given)
    outside = [random(*result.shape) for result in results]
    for name, choices in CHOICES.items():
        for choice in choices:
            decoder.TILES = replace(Tiles(), **{name: choice})
            if name in ("score", "mix"):
                time = milliseconds(lambda: decoder.forward(*given))
            else:
                time = milliseconds(lambda: decoder.backward(outside, given, kept))
            print(f"{name:<11} {choice!s:<15} {time:7.3f} ms", flush=True)


if __name__ == "__main__":
    main()
