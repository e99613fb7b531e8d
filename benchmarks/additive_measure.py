"""Measuring functions of additive_kernel.py: inputs, distance from float64, time by CUDA events, memory, kernels.

It runs from a checkout, installed or not.
"""

import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

TANH_PER_SECOND = 4.09e12
DEVICE = "cuda"


def import_from_checkout() -> None:
    """Make `import regard` work if the package is not installed: its version comes from the installation."""
    try:
        version("regard")
    except PackageNotFoundError:
        folder = Path(tempfile.mkdtemp())
        (folder / "regard-0.dist-info").mkdir()
        (folder / "regard-0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: regard\nVersion: 0\n")
        sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(folder)]


import_from_checkout()

from regard.attention import additive_attention  # noqa: E402
from regard.attention.additive.functional import attend_additive  # noqa: E402
from regard.fast.additive import launch, launch_backward  # noqa: E402
from regard.fast.additive.launch import Inputs, Tilings  # noqa: E402
from regard.registry import operation_of  # noqa: E402

plain_attention = operation_of(attend_additive).plain


@dataclass(frozen=True)
class Work:
    """The sizes of one call."""

    batch: int
    target: int
    source: int
    width: int
    value: int
    dtype: torch.dtype = torch.bfloat16

    def __str__(self) -> str:
        kind = str(self.dtype).removeprefix("torch.")
        return f"{self.batch} × {self.target} × {self.source} × {self.width} (value {self.value}) {kind}"

    @property
    def limit(self) -> float:
        """Milliseconds of tanh, forward and backward."""
        return 2e3 * self.batch * self.target * self.source * self.width / TANH_PER_SECOND


def draw(work: Work, seed: int, gaussian: bool = False, padding: bool = True) -> tuple[Inputs, Tensor, Tensor]:
    """Inputs of ordinary size with some padding, and the gradients that arrive at context and weights."""
    generator = torch.Generator(DEVICE).manual_seed(seed)

    def normal(*size: int) -> Tensor:
        return torch.randn(*size, generator=generator, device=DEVICE).to(work.dtype)

    batch, target, source = work.batch, work.target, work.source
    lengths = torch.randint(source // 2, source, (batch,), generator=generator, device=DEVICE)
    if not padding:
        lengths.fill_(source)
    mask = (torch.arange(source, device=DEVICE) < lengths[:, None])[:, None].expand(batch, target, source)
    fade = torch.rand(batch, target, source, generator=generator, device=DEVICE).to(work.dtype) if gaussian else None
    inputs = Inputs(
        normal(batch, target, work.width), normal(batch, source, work.width), normal(work.width) * work.width**-0.5 * 4,
        normal(batch, source, work.value), mask, fade,
    )  # fmt: skip
    return inputs, normal(batch, target, work.value), normal(batch, target, source)


Call = Callable[..., tuple[Tensor, Tensor]]


def solve(call: Call, inputs: Inputs, d_context: Tensor, d_weights: Tensor, dtype: torch.dtype) -> list[Tensor]:
    """Context, weights and every gradient, computed in this precision."""
    leaves = [x.to(dtype).detach().requires_grad_() for x in (inputs.query, inputs.keys, inputs.v, inputs.values)]
    gaussian = None if inputs.gaussian is None else inputs.gaussian.to(dtype).detach().requires_grad_()
    context, weights = call(*leaves, inputs.mask, gaussian)
    torch.autograd.backward([context, weights], [d_context.to(dtype), d_weights.to(dtype)])
    gradients = [leaf.grad for leaf in leaves] + ([] if gaussian is None else [gaussian.grad])
    return [context.detach(), weights.detach(), *(x for x in gradients if x is not None)]


NAMES = ("context", "weights", "query", "keys", "v", "values", "gaussian")


@dataclass(frozen=True)
class Agreement:
    """Relative distances from float64: ours and plain torch's in the same precision."""

    ours: dict[str, float]
    plain: dict[str, float]
    slack: float

    @property
    def holds(self) -> bool:
        return all(ours <= 2 * self.plain[name] + self.slack for name, ours in self.ours.items())

    @property
    def ratio(self) -> float:
        return max(ours / self.plain[name] for name, ours in self.ours.items())

    def __str__(self) -> str:
        worst = max(self.ours, key=lambda name: self.ours[name] / self.plain[name])
        return f"worst {worst}: {self.ours[worst]:.1e}, plain torch {self.plain[worst]:.1e}, ratio {self.ratio:.2f}"


def agreement(work: Work, call: Call, seed: int = 0, gaussian: bool = False, shift: float = 0.0) -> Agreement:
    """`shift` makes queries and keys too large to be factored."""
    inputs, d_context, d_weights = draw(work, seed, gaussian)
    inputs.query[..., ::3] += shift
    inputs.keys[..., ::3] -= shift
    truth = solve(plain_attention, inputs, d_context, d_weights, torch.float64)
    plain = solve(plain_attention, inputs, d_context, d_weights, work.dtype)
    ours = solve(call, inputs, d_context, d_weights, work.dtype)

    def distances(answers: list[Tensor]) -> dict[str, float]:
        pairs = zip(NAMES, answers, truth, strict=False)
        return {name: float((a.double() - b).norm() / b.norm()) for name, a, b in pairs}

    unit = torch.finfo(work.dtype).eps
    slack = 2 * unit if work.dtype == torch.float32 else unit / 8
    found = Agreement(distances(ours), distances(plain), slack)
    torch.cuda.empty_cache()
    return found


def fused(tilings: Tilings | None = None, deterministic: bool = False) -> Call:
    """The operation with these tilings, without going through the registered op."""
    if tilings is None:
        return lambda *given: additive_attention(*given, deterministic=deterministic)  # type: ignore[return-value]

    class Fused(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
            ctx.inputs = Inputs(*given)
            context, ctx.weights, ctx.softmax = launch.forward(ctx.inputs, tilings)
            return context, ctx.weights

        @staticmethod
        def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
            *gradients, d_gaussian = launch_backward.backward(
                ctx.inputs, ctx.softmax, ctx.weights, *outside, deterministic, tilings
            )
            return (*gradients, None, d_gaussian)

    return Fused.apply  # type: ignore[no-any-return]


def milliseconds(run: Callable[[], object], repeats: int = 25) -> float:
    """Median of CUDA events, the host running ahead of the device."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for before, after in events:
        before.record()
        run()
        after.record()
    torch.cuda.synchronize()
    return statistics.median(before.elapsed_time(after) for before, after in events)


def step(call: Call, inputs: Inputs, d_context: Tensor) -> Callable[[], list[Tensor]]:
    """One forward and backward; the gradients are returned, and nothing accumulates."""
    leaves = [x.detach().requires_grad_() for x in (inputs.query, inputs.keys, inputs.v, inputs.values)]

    def run() -> list[Tensor]:
        context, _ = call(*leaves, inputs.mask, inputs.gaussian)
        return list(torch.autograd.grad(context, leaves, d_context))

    return run


def measure(work: Work, call: Call, repeats: int = 25, padding: bool = False) -> dict[str, float]:
    """Forward + backward and forward alone in ms; MiB at the peak beyond the inputs, and beyond results too."""
    inputs, d_context, _ = draw(work, 1, padding=padding)
    run = step(call, inputs, d_context)
    run()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    gradients = run()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    results = sum(x.numel() * x.element_size() for x in (*gradients, d_context))
    del gradients
    both = milliseconds(run, repeats)
    with torch.no_grad():
        forward = milliseconds(
            lambda: call(inputs.query, inputs.keys, inputs.v, inputs.values, inputs.mask, inputs.gaussian), repeats
        )
    torch.cuda.empty_cache()
    mebibytes = {"peak": peak / 2**20, "peak beyond results": (peak - results) / 2**20}
    tera = 2 * work.batch * work.target * work.source * work.width / both / 1e9
    return {"ms": both, "forward ms": forward, **mebibytes, "Ttanh/s": tera, "share of limit": work.limit / both}


def graph_milliseconds(work: Work, call: Call) -> float:
    """The same forward + backward replayed from a CUDA graph: no launch gaps."""
    inputs, d_context, _ = draw(work, 1, padding=False)
    run = step(call, inputs, d_context)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    found = milliseconds(graph.replay)
    del graph
    torch.cuda.empty_cache()
    return found


def kernel_times(work: Work, call: Call) -> dict[str, float]:
    """Microseconds of each device kernel in one forward + backward."""
    from torch.profiler import ProfilerActivity, profile

    inputs, d_context, _ = draw(work, 1, padding=False)
    run = step(call, inputs, d_context)
    run()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(5):
            run()
        torch.cuda.synchronize()
    times = {event.key[:60]: event.self_device_time_total / 5 for event in seen.key_averages()}
    return dict(sorted(((name, us) for name, us in times.items() if us > 1), key=lambda pair: -pair[1]))
