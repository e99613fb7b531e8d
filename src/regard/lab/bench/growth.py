"""Time and memory of additive attention by length, width and batch: plain torch against the fused kernel."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.attention import additive_attention
from regard.attention.additive.functional import attend_additive
from regard.lab.bench.measure import extra_memory, take_turns
from regard.registry import operation_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Attend = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]]


@dataclass(frozen=True)
class Size:
    """Sentences, words on each side, width of the score and of the values."""

    batch: int
    length: int
    width: int


@dataclass(frozen=True)
class Point:
    axis: str
    size: Size
    system: str
    milliseconds: float
    mebibytes: float | None


def measure_growth(device: torch.device, *, repeats: int = 5) -> list[Point]:
    """Forward and backward, each axis varied alone; on a GPU sixteen times as large, and in bf16."""
    large = device.type == "cuda"
    middle = Size(32, 256, 512) if large else Size(16, 32, 128)
    dtype = torch.bfloat16 if large else torch.float32
    systems: dict[str, Attend] = {"plain torch": operation_of(attend_additive).plain}
    if large:
        systems["fused"] = additive_attention
    points = []
    for axis in ("length", "width", "batch"):
        for factor in (0.25, 0.5, 1, 2, 4):
            size = replace(middle, **{axis: int(getattr(middle, axis) * factor)})
            runs = {name: _run(attend, size, dtype, device) for name, attend in systems.items()}
            memory = {name: extra_memory(run, device) for name, run in runs.items()}
            times = take_turns(runs, repeats, device)
            points += [Point(axis, size, name, times[name], memory[name]) for name in systems]
    return points


def _run(attend: Attend, size: Size, dtype: torch.dtype, device: torch.device) -> Callable[[], None]:
    generator = torch.Generator(device).manual_seed(0)
    shapes = [(size.batch, size.length, size.width)] * 2 + [(size.width,), (size.batch, size.length, size.width)]
    query, keys, v, values = (
        torch.randn(shape, generator=generator, device=device, dtype=dtype).requires_grad_() for shape in shapes
    )
    mask = torch.ones(size.batch, size.length, size.length, dtype=torch.bool, device=device)

    def run() -> None:
        context, _ = attend(query, keys, v, values, mask)
        torch.autograd.grad(context.sum(), (query, keys, v, values))

    return run


def growth_figure(points: list[Point], machine: str) -> "Figure":
    """Time, and memory where it was counted, over each axis, in log-log scale."""
    from matplotlib.figure import Figure  # pyplot would run the hooks of a matplotlibrc in the current folder

    panels = {"ms": "milliseconds"}
    if any(point.mebibytes is not None for point in points):
        panels["MiB"] = "mebibytes"
    figure = Figure(figsize=(11, 0.4 + 3 * len(panels)), layout="constrained")
    grid = figure.subplots(len(panels), 3, squeeze=False)
    for column, axis in enumerate(("length", "width", "batch")):
        mine = [point for point in points if point.axis == axis]
        for plot, (unit, measure) in zip(grid[:, column], panels.items(), strict=True):
            for system in dict.fromkeys(point.system for point in mine):
                line = [point for point in mine if point.system == system]
                sizes = [getattr(point.size, axis) for point in line]
                plot.plot(sizes, [getattr(point, measure) or 0 for point in line], "o-", label=system)
            plot.set_xscale("log", base=2)
            plot.set_yscale("log")
            plot.set_xlabel(axis)
            plot.grid(alpha=0.3)
            if column == 0:
                plot.set_ylabel(f"{unit}, forward + backward")
                plot.legend()
    figure.suptitle(f"Additive attention, {machine}")
    return figure
