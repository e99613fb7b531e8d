"""The cost of a score: dot, general, concat and additive by length and width, against the usual formulas.

    python benchmarks/score_cost.py --out docs/results [--device cuda] [--repeats 3] [--small]

Three kinds of work, each over batches of sentences of T words, every width d:

    step       one query against keys that are known, nobody differentiates: a decoding step
    learning   the same, forward and backward: a step of a training loop
    all        T queries at once with everything that is projected, forward and backward: training without a loop

Scores alone are timed, but for the fused kernel, which gives contexts. Growth is the exponent p of t ~ x^p, fitted to
the three largest sizes; beside it stands the same exponent of the counted operations.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from math import log
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from regard.attention import additive_attention
from regard.attention.additive.functional import additive_scores
from regard.attention.multiplicative.functional import dot_scores
from regard.lab.bench.growth import Size
from regard.lab.bench.measure import extra_memory, take_turns

LARGEST = 2**31
"""Elements of tanh's argument that plain torch may write down."""


@dataclass(frozen=True)
class Point:
    work: str
    axis: str
    size: Size
    score: str
    milliseconds: float
    mebibytes: float | None


Operands = dict[str, Tensor]


def project(states: Tensor, weight: Tensor) -> Tensor:
    return functional.linear(states, weight)


def anew(one: Operands) -> Tensor:
    """As in diagrams: the network reads [s; h] at every step, although W_h h never changes."""
    return additive_scores(project(one["query"], one["W_s"]), project(one["states"], one["W_h"]), one["v"])


def fused(one: Operands) -> Tensor:
    query, keys = project(one["query"], one["W_s"]), project(one["states"], one["W_h"])
    return additive_attention(query, keys, one["v"], one["states"], one["mask"])[0]


def stepwise(one: Operands) -> Tensor:
    return additive_scores(project(one["query"], one["W_s"]), one["keys"], one["v"])


STEP: dict[str, Callable[[Operands], Tensor]] = {
    "dot": lambda one: dot_scores(one["query"], one["states"]),
    "general": lambda one: dot_scores(one["query"], one["keys"]),
    "concat, additive": stepwise,
    "additive, keys anew at each step": anew,
}
ALL: dict[str, Callable[[Operands], Tensor]] = {
    "dot": STEP["dot"],
    "general": lambda one: dot_scores(one["query"], project(one["states"], one["W_h"])),
    "concat, additive": anew,
    "additive, fused": fused,
}
COUNTS: dict[str, dict[str, Callable[[float, float], float]]] = {
    "one": {
        "dot": lambda t, d: d * t,
        "general": lambda t, d: d * t,
        "concat, additive": lambda t, d: d * d + 2 * d * t,
        "additive, keys anew at each step": lambda t, d: d * d * t + d * d + 2 * d * t,
    },
    "all": {
        "dot": lambda t, d: d * t * t,
        "general": lambda t, d: d * d * t + d * t * t,
        "concat, additive": lambda t, d: 2 * d * d * t + 2 * d * t * t,
        "additive, fused": lambda t, d: 2 * d * d * t + 2 * d * t * t,
    },
}
"""Products, and tanh as one operation each, for one sentence."""
CLAIMED: dict[str, Callable[[float, float], float]] = {
    "dot": lambda t, d: d * t,
    "concat, additive": lambda t, d: 2 * d * d + d * t,
}
"""What is quoted for one step: O(d T) for Luong's dot, O(d² + d h + d T) for Bahdanau's network, h = d."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--small", action="store_true", help="two sizes an axis, to try it out")
    given = options.parse_args()
    device = torch.device(given.device)
    points: list[Point] = []
    given.out.mkdir(parents=True, exist_ok=True)
    record = {
        "machine": torch.cuda.get_device_name()
        if device.type == "cuda"
        else f"CPU, {torch.get_num_threads()} thread(s)",
        "precision": "bf16" if device.type == "cuda" else "float32",
        "torch": torch.__version__,
        "date": date.today().isoformat(),
    }
    for work in ("step", "learning", "all"):
        points += measure(work, device, given.repeats, given.small)
        record |= {"points": [asdict(point) for point in points], "growth": growth(points)}
        (given.out / "score_cost.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    draw(points, given.out / "score_cost.png", f"{record['machine']}, {record['precision']}")


def sizes(work: str, large: bool, small: bool) -> dict[str, list[Size]]:
    """The sizes of each axis, the other one in the middle."""
    if large:
        middle = Size(16, 256, 512) if work == "all" else Size(256, 256, 512)
        lengths, widths = [64, 128, 256, 512, 1024, 2048], [128, 256, 512, 1024, 2048]
    else:
        middle = Size(2, 64, 128) if work == "all" else Size(16, 128, 128)
        lengths, widths = [16, 32, 64, 128, 256], [32, 64, 128, 256, 512]
    if small:
        lengths, widths = lengths[:2], widths[:2]
    return {
        "length": [replace(middle, length=length) for length in lengths],
        "width": [replace(middle, width=width) for width in widths],
    }


def measure(work: str, device: torch.device, repeats: int, small: bool) -> list[Point]:
    points = []
    large = device.type == "cuda"
    for axis, several in sizes(work, large, small).items():
        for size in several:
            runs = {name: run for name, run in systems(work, size, device).items() if run is not None}
            memory = {name: extra_memory(run, device) for name, run in runs.items()}
            times = take_turns(runs, repeats, device)
            points += [Point(work, axis, size, name, times[name], memory[name]) for name in runs]
            torch.cuda.empty_cache() if large else None
    return points


def systems(work: str, size: Size, device: torch.device) -> dict[str, Callable[[], object] | None]:
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    generator = torch.Generator(device).manual_seed(0)
    queries = size.length if work == "all" else 1

    def draw(*shape: int) -> Tensor:
        scale = shape[-1] ** -0.5 if len(shape) < 3 else 1.0
        made = torch.randn(shape, generator=generator, device=device, dtype=dtype) * scale
        return made.requires_grad_(work != "step")

    one = {
        "query": draw(size.batch, queries, size.width),
        "states": draw(size.batch, size.length, size.width),
        "keys": draw(size.batch, size.length, size.width),
        "W_s": draw(size.width, size.width),
        "W_h": draw(size.width, size.width),
        "v": draw(size.width),
        "mask": torch.ones(size.batch, queries, size.length, dtype=torch.bool, device=device),
    }
    written = size.batch * queries * size.length * size.width
    found: dict[str, Callable[[], object] | None] = {}
    for name, score in (ALL if work == "all" else STEP).items():
        plain = name != "additive, fused"
        possible = (device.type == "cuda") if not plain else "additive" not in name or written <= LARGEST
        found[name] = runner(score, one, work != "step") if possible else None
    return found


def runner(score: Callable[[Operands], Tensor], one: Operands, backward: bool) -> Callable[[], object]:
    leaves = [tensor for tensor in one.values() if tensor.requires_grad]

    def run() -> object:
        with torch.set_grad_enabled(backward):
            found = score(one)
            return torch.autograd.grad(found.float().sum(), leaves, allow_unused=True) if backward else found

    return run


def growth(points: list[Point]) -> list[dict[str, object]]:
    """For each work, axis and score the measured exponent, the counted one, and the quoted one."""
    rows = []
    for work, axis, score in dict.fromkeys((point.work, point.axis, point.score) for point in points):
        mine = [point for point in points if (point.work, point.axis, point.score) == (work, axis, score)][-3:]
        if len(mine) < 2:
            continue
        x = [float(getattr(point.size, axis)) for point in mine]

        def slope(count: Callable[[float, float], float], x: list[float] = x, mine: list[Point] = mine) -> float:
            return fit(x, [count(point.size.length, point.size.width) for point in mine])

        claimed = CLAIMED.get(score) if work != "all" else None
        rows.append(
            {
                "work": work,
                "axis": axis,
                "score": score,
                "measured": round(fit(x, [point.milliseconds for point in mine]), 2),
                "counted": round(slope(COUNTS["all" if work == "all" else "one"][score]), 2),
                "quoted": None if claimed is None else round(slope(claimed), 2),
                "milliseconds": [round(point.milliseconds, 4) for point in mine],
                "sizes": x,
            }
        )
    return rows


def fit(x: list[float], y: list[float]) -> float:
    """The slope of log y over log x."""
    xs, ys = [log(one) for one in x], [log(one) for one in y]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - middle_x) ** 2 for a in xs
    )


def draw(points: list[Point], path: Path, machine: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    titles = {"step": "one query, forward", "learning": "one query, and backward", "all": "all queries, and backward"}
    names = list(dict.fromkeys(point.score for point in points))
    figure, grid = pyplot.subplots(2, 3, figsize=(12, 7), layout="constrained", squeeze=False)
    for row, axis in enumerate(("length", "width")):
        for column, (work, title) in enumerate(titles.items()):
            plot = grid[row, column]
            for name in names:
                line = [point for point in points if (point.work, point.axis, point.score) == (work, axis, name)]
                if line:
                    x = [getattr(point.size, axis) for point in line]
                    colour, marker = f"C{names.index(name)}", "osD^v"[names.index(name)]
                    plot.plot(x, [point.milliseconds for point in line], f"{marker}-", color=colour, label=name)
            plot.set_xscale("log", base=2)
            plot.set_yscale("log")
            plot.set_xlabel(f"{axis} {'T' if axis == 'length' else 'd'}")
            plot.grid(alpha=0.3)
            if row == 0:
                plot.set_title(title)
            if column == 0:
                plot.set_ylabel("milliseconds")
    lines = {line.get_label(): line for plot in grid.flat for line in plot.get_lines()}
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines))
    figure.suptitle(f"What a score costs, {machine}")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
