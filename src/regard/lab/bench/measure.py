"""Time and memory of several systems on the same work, measured in turns: medians, and ratios from one run."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Run = Callable[[], object]

IN_A_ROW = 5
"""Steps of a turn on a GPU, queued without a sync as in training."""


@dataclass(frozen=True)
class Timing:
    """Medians of one system over its turns."""

    name: str
    milliseconds: float
    tokens_per_second: float
    ratio: float
    """How many times as fast as the first system of the table."""
    mebibytes: float | None
    """GPU memory allocated by the call."""
    share: float | None
    """Time of the textbook's matrix products alone over this time; above 1 if products are merged."""


@contextmanager
def exact_float32() -> Iterator[None]:
    """Switch TF32 off while the block runs, to compare systems exactly."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.backends.cudnn.flags(allow_tf32=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def take_turns(systems: Mapping[str, Run], repeats: int, device: torch.device) -> dict[str, float]:
    """The median milliseconds of each, in turns, so that other load on the machine affects all."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    for run in systems.values():
        for _ in range(3 if device.type == "cuda" else 1):  # a shape is captured at its second call
            run()
    for _ in range(repeats):
        for name, run in systems.items():
            times[name].append(_milliseconds(run, device))
    return {name: statistics.median(values) for name, values in times.items()}


def _milliseconds(run: Run, device: torch.device) -> float:
    if device.type != "cuda":
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e3
    event: Any = torch.cuda.Event
    first, last = event(enable_timing=True), event(enable_timing=True)
    torch.cuda.synchronize(device)
    first.record()
    for _ in range(IN_A_ROW):
        run()
    last.record()
    torch.cuda.synchronize(device)
    return float(first.elapsed_time(last)) / IN_A_ROW


def extra_memory(run: Run, device: torch.device) -> float | None:
    """Peak GPU memory of a call beyond that before it, in MiB; None on the CPU."""
    if device.type != "cuda":
        return None
    run()
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    run()
    return (torch.cuda.max_memory_allocated(device) - before) / 2**20


def products_alone(shapes: Sequence[tuple[int, int, int]], dtype: torch.dtype, device: torch.device) -> float:
    """Milliseconds of a step's matrix products, forward and backward, with nothing in between: the limit."""
    kinds = {shape: shapes.count(shape) for shape in shapes}
    total = 0.0
    for (m, k, n), count in kinds.items():
        left, right, gradient = (torch.randn(size, dtype=dtype, device=device) for size in ((m, k), (k, n), (m, n)))

        def run(a: Tensor = left, b: Tensor = right, g: Tensor = gradient) -> None:
            a @ b, g @ b.t(), a.t() @ g

        total += count * take_turns({"": run}, 5, device)[""]
    return total


def rows(
    times: Mapping[str, float],
    tokens: int,
    memory: Mapping[str, float | None],
    limits: Mapping[str, float | None],
) -> list[Timing]:
    """The table; ratios against its first row."""
    first = next(iter(times.values()))
    shares = {name: None if limit is None else limit / times[name] for name, limit in limits.items()}
    return [Timing(name, ms, tokens / ms * 1e3, first / ms, memory[name], shares[name]) for name, ms in times.items()]
