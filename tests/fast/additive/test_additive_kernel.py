"""The additive kernels beyond the law: extreme numbers, tilings, atomics, memory, torch.library and torch.compile."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils.checkpoint import checkpoint

from interpreter import INTERPRETED, kernels
from regard.attention import additive_attention
from regard.attention.additive.functional import attend_additive
from regard.fast.additive import fused, launch, launch_backward
from regard.registry import operation_of

DEVICE = "cpu" if INTERPRETED else "cuda"
NAMES = ("context", "weights", "query", "keys", "v", "values", "gaussian")


@pytest.fixture(autouse=True)
def _kernels() -> Iterator[None]:
    # A separate patch: a test's `monkeypatch` must be undone before `kernels`, or the interpreter stays switched on.
    with kernels(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "SMALL", 0)  # a GPU would compute most of these problems in plain torch
        patch.setattr(fused, "REPLAYED", 0)
        yield


@dataclass(frozen=True)
class Problem:
    """Inputs, and the gradients that will arrive at context and weights."""

    query: Tensor
    keys: Tensor
    v: Tensor
    values: Tensor
    mask: Tensor
    gaussian: Tensor | None
    d_context: Tensor
    d_weights: Tensor


def problem(
    batch: int = 2,
    target: int = 6,
    source: int = 7,
    width: int = 9,
    value: int = 5,
    dtype: torch.dtype = torch.float32,
    gaussian: bool = False,
    seed: int = 0,
) -> Problem:
    generator = torch.Generator().manual_seed(seed)

    def draw(*size: int) -> Tensor:
        return torch.randn(*size, generator=generator).to(DEVICE, dtype)

    mask = torch.rand(batch, target, source, generator=generator) > 0.3
    fade = torch.rand(batch, target, source, generator=generator).to(DEVICE, dtype) if gaussian else None
    return Problem(
        draw(batch, target, width), draw(batch, source, width), draw(width), draw(batch, source, value),
        mask.to(DEVICE), fade, draw(batch, target, value), draw(batch, target, source),
    )  # fmt: skip


def solve(function: object, given: Problem, dtype: torch.dtype | None = None, **options: object) -> list[Tensor]:
    """Context, weights and every gradient."""

    def leaf(tensor: Tensor) -> Tensor:
        return tensor.detach().clone().to(dtype or tensor.dtype).requires_grad_()

    leaves = [leaf(x) for x in (given.query, given.keys, given.v, given.values)]
    gaussian = None if given.gaussian is None else leaf(given.gaussian)
    context, weights = function(*leaves, given.mask, gaussian, **options)
    torch.autograd.backward([context, weights], [given.d_context.to(context), given.d_weights.to(weights)])
    return [
        context.detach(),
        weights.detach(),
        *(x.grad for x in leaves),
        *([] if gaussian is None else [gaussian.grad]),
    ]


plain_attention = operation_of(attend_additive).plain


def plain(given: Problem, dtype: torch.dtype | None = None) -> list[Tensor]:
    return solve(plain_attention, given, dtype)


def distance(answer: Tensor, truth: Tensor) -> float:
    assert answer.isfinite().all()
    return float((answer.double() - truth).norm() / truth.norm().clamp(min=1e-9))


def check(given: Problem, **options: object) -> list[Tensor]:
    """Every output and gradient is at most twice as far from float64 as plain torch's in the same precision."""
    ours, theirs, truth = solve(additive_attention, given, **options), plain(given), plain(given, torch.float64)
    unit = torch.finfo(given.query.dtype).eps
    # Single precision may miss the last bit twice, on a GPU, whose `exp` is an approximation, the last two; the
    # interpreter cuts bfloat16 off where a GPU rounds it.
    single, brain = (2 * unit, unit / 2) if INTERPRETED else (4 * unit, 0.0)
    slack = {torch.float32: single, torch.float16: 0.0, torch.bfloat16: brain}
    for name, mine, other, exact in zip(NAMES, ours, theirs, truth, strict=False):
        assert mine.dtype == given.query.dtype
        assert distance(mine, exact) <= 2 * distance(other, exact) + slack[mine.dtype], name
    return ours


@pytest.mark.parametrize("target", [2, 6], ids=["few queries", "many"])
def test_a_query_without_visible_positions_gives_zeros_and_no_gradient(target: int) -> None:
    given = problem(target=target, gaussian=True)
    given.mask[0, 1] = False
    given.mask[1] = False
    context, weights, d_query, d_keys, d_v, d_values, d_gaussian = solve(additive_attention, given)
    for tensor in (context, weights, d_query, d_gaussian):
        assert not tensor[0, 1].any()
    for tensor in (context, weights, d_query, d_keys, d_values, d_gaussian):
        assert not tensor[1].any()
    assert d_v.isfinite().all()
    check(given)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(("target", "source"), [(2, 7), (6, 7), (6, 40)])
def test_padding_may_hold_nan(target: int, source: int, deterministic: bool) -> None:
    clean = problem(target=target, source=source)
    clean.mask[0, :, 4:] = False
    clean.mask[1, :, -1:] = False
    clean.mask[:, :, 0] = True
    unseen = ~clean.mask.any(dim=1)
    poisoned = replace(clean, keys=clean.keys.clone(), values=clean.values.clone())
    poisoned.keys[unseen], poisoned.values[unseen] = float("nan"), float("inf")
    answers = [solve(additive_attention, given, deterministic=deterministic) for given in (clean, poisoned)]
    exact = deterministic or INTERPRETED  # a GPU adds up the gradient of the queries in any order
    for name, mine, other in zip(NAMES, *answers, strict=False):
        assert torch.equal(mine, other) if exact else torch.allclose(mine, other, rtol=1e-5, atol=1e-7), name
    assert not answers[1][3][unseen].any()
    assert not answers[1][5][unseen].any()


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(("target", "source"), [(2, 7), (6, 7), (6, 40)])
def test_every_element_is_written(target: int, source: int, deterministic: bool) -> None:
    """Torch fills fresh memory with NaN here; a window leaves whole tiles untouched."""
    given = problem(target=target, source=source, gaussian=True)
    given.mask[:, :, 3:] = False
    given.mask[:, :, 0] = True
    was = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert torch.utils.deterministic.fill_uninitialized_memory
        assert torch.empty(3).isnan().all()
        check(given, deterministic=deterministic)
    finally:
        torch.use_deterministic_algorithms(was)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("target", [2, 6])
def test_numbers_too_large_to_be_factored(target: int, deterministic: bool) -> None:
    """exp(2 · 60) is infinite in float32; only the first of the two spans of widths holds such numbers."""
    given = problem(target=target, source=40, width=70)
    given.query[..., 3] += 60
    given.keys[..., 3] -= 59
    given.query[0, 0, 4], given.query[0, 1, 5] = 1e30, -1e30
    given.query[..., 66] = 15.9
    given.keys[..., 66:68] = 15.9
    if target > launch.STEP_QUERIES:
        inputs = launch.Inputs(given.query, given.keys, given.v, given.values, given.mask, None)
        assert launch.wide_spans(inputs, given.mask.any(dim=1)).tolist() == [[1, 0], [1, 0]]
    check(given, deterministic=deterministic)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("paired", [False, True])
def test_saturated_pairs_share_a_reciprocal_without_overflow(paired: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """d₁d₂ = (1 + e⁶⁴)² is infinite and the answer still right; so it is for one huge d beside a small one."""
    given = problem(width=4, source=40, dtype=torch.float16)
    given.query[..., :2], given.keys[..., :2] = 15.99, 15.99
    given.query[..., 2], given.keys[..., 2] = -15.99, -15.99
    given.keys[:, 20:, 0] = -16
    use(launch.Tilings(gradient=launch.GradientTiling(paired=paired)), monkeypatch)
    check(given)


def use(tilings: launch.Tilings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "DEFAULT", tilings)


@pytest.mark.parametrize(
    "tilings",
    [
        launch.Tilings(
            launch.ScoreTiling(queries=32, keys=64, step=4), launch.GradientTiling(rows=16, width=128, lane=4)
        ),
        launch.Tilings(launch.ScoreTiling(keys=32, step=16), launch.GradientTiling(rows=8, width=32, lane=1, block=4)),
    ],
    ids=["wide", "small"],
)
def test_any_tiling_gives_the_answer(tilings: launch.Tilings, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tilings, monkeypatch)
    check(problem(1, 9, 40, 70, 3))


def test_a_batch_in_pieces_is_the_batch_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem(batch=3, source=40, gaussian=True)
    whole = solve(additive_attention, given)
    monkeypatch.setattr(launch, "TEMPORARY", 2000)
    assert len(launch.pieces(3, 1000)) == 2
    monkeypatch.setattr(launch, "TEMPORARY", 1)
    assert [len(range(*rows.indices(3))) for rows in launch.pieces(3, 1000)] == [1, 1, 1]
    for name, mine, other in zip(NAMES, solve(additive_attention, given), whole, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-6, atol=1e-6, msg=name)


def test_deterministic_means_no_atomic_additions(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[str] = []
    run = launch_backward._Launch.__call__

    def spy(self: object, hold_keys: bool, d_scores: Tensor, d_held: Tensor, d_streamed: Tensor, mode: str) -> Tensor:
        modes.append(mode)
        return run(self, hold_keys, d_scores, d_held, d_streamed, mode)

    monkeypatch.setattr(launch_backward._Launch, "__call__", spy)
    given = problem(source=40)
    solve(additive_attention, given)
    assert modes == ["atomic"]
    modes.clear()
    first = solve(additive_attention, given, deterministic=True)
    assert modes == ["none", "none"]
    modes.clear()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        again = solve(additive_attention, given)
    finally:
        torch.use_deterministic_algorithms(False)
    assert modes == ["none", "none"]
    assert all(torch.equal(mine, other) for mine, other in zip(first, again, strict=True))


def test_gradients_through_context_or_weights_alone() -> None:
    given = problem(gaussian=True)
    for silent in ("d_context", "d_weights"):
        alone = replace(given, **{silent: torch.zeros_like(getattr(given, silent))})
        truth = plain(alone, torch.float64)
        leaves = [x.clone().requires_grad_() for x in (given.query, given.keys, given.v, given.values, given.gaussian)]
        context, weights = additive_attention(*leaves[:4], given.mask, leaves[4])
        output, gradient = (weights, given.d_weights) if silent == "d_context" else (context, given.d_context)
        output.backward(gradient)
        for leaf, exact in zip(leaves, truth[2:], strict=True):
            torch.testing.assert_close(leaf.grad, exact.float(), rtol=1e-4, atol=1e-5)


def test_leading_axes_strides_and_broadcast_masks() -> None:
    generator = torch.Generator().manual_seed(4)
    query = torch.randn(2, 3, 9, 5, generator=generator).to(DEVICE).transpose(-1, -2)
    keys = torch.randn(2, 3, 7, 9, generator=generator).to(DEVICE)
    values = torch.randn(3, 2, 7, 4, generator=generator).to(DEVICE).transpose(0, 1)
    v = torch.randn(18, generator=generator).to(DEVICE)[::2]
    mask = torch.rand(2, 1, 1, 7, generator=generator).to(DEVICE) > 0.4
    context, weights = additive_attention(query, keys, v, values, mask)
    expected = plain_attention(query, keys, v, values, mask.expand(2, 3, 5, 7))
    torch.testing.assert_close((context, weights), expected)


def test_plain_torch_computes_what_the_kernels_do_not_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "forward", None)
    given = problem()
    for mine, other in zip(solve(additive_attention, given, torch.float64), plain(given, torch.float64), strict=True):
        assert torch.equal(mine, other)
    empty = problem(target=0)
    context, weights = additive_attention(empty.query, empty.keys, empty.v, empty.values, empty.mask)
    assert context.shape == (2, 0, 5)
    assert weights.shape == (2, 0, 7)
    if INTERPRETED:
        monkeypatch.delenv("TRITON_INTERPRET")
        for mine, other in zip(solve(additive_attention, given), plain(given), strict=True):
            assert torch.equal(mine, other)


def test_under_autocast_it_computes_as_matrix_products_do() -> None:
    given = problem()
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        context, weights = additive_attention(given.query, given.keys, given.v, given.values, given.mask)
    assert context.dtype == weights.dtype == torch.bfloat16


def test_nothing_of_size_target_by_source_by_width_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    for name in ("empty", "zeros", "empty_like", "zeros_like", "where"):
        make = getattr(torch, name)

        def record(*arguments: object, make: object = make, **options: object) -> Tensor:
            tensor = make(*arguments, **options)
            sizes.append(tensor.numel())
            return tensor

        monkeypatch.setattr(torch, name, record)
    solve(additive_attention, problem(batch=1, target=32, source=32, width=64))
    assert max(sizes) <= 64 * 64  # of 32 · 32 · 64
    assert len(sizes) > 8


@pytest.mark.parametrize(
    ("gaussian", "dynamic"),
    [
        (True, "test_aot_dispatch_static"),
        (False, "test_aot_dispatch_dynamic"),
        pytest.param(False, "test_aot_dispatch_static", marks=pytest.mark.long),
        pytest.param(True, "test_aot_dispatch_dynamic", marks=pytest.mark.long),
    ],
)
def test_the_operation_passes_torchs_opcheck(gaussian: bool, dynamic: str) -> None:
    given = problem(target=5, gaussian=gaussian)
    inputs = [given.query, given.keys, given.v, given.values, given.mask, given.gaussian]
    for tensor in (*inputs[:4], *([given.gaussian] if gaussian else [])):
        tensor.requires_grad_()
    checks = ["test_schema", "test_autograd_registration", "test_faketensor"]
    torch.library.opcheck(torch.ops.regard.additive_attention.default, (*inputs, False), test_utils=[*checks, dynamic])


@pytest.mark.parametrize("registered", [False, True])
def test_activation_checkpointing_works(registered: bool) -> None:
    """torch.utils.checkpoint returns each saved tensor once; as an eager call and as a registered operation."""
    given = problem()

    def call(query: Tensor) -> Tensor:
        fixed = given.keys, given.v, given.values
        if not registered:
            return additive_attention(query, *fixed, given.mask)[0]
        context: Tensor = torch.ops.regard.additive_attention(query, *fixed, given.mask, None, False)[0]
        return context

    query = given.query.requires_grad_()
    right = torch.autograd.grad(call(query).square().sum(), query)
    found = torch.autograd.grad(checkpoint(call, query, use_reentrant=False).square().sum(), query)
    torch.testing.assert_close(found, right)


def test_a_batch_larger_than_cudas_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its axes but the first end at 65535; the test checks only the launch parameters."""
    grids: list[tuple[int, ...]] = []

    class Launched:
        def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
            grids.append(grid)
            return lambda *_, **__: None

    monkeypatch.setattr("regard.fast.additive.score_kernels.span_kernel", Launched())
    batch, real = 70_000, torch.ones(70_000, 1, dtype=torch.bool)
    rows = torch.zeros(batch, 5, 2), torch.zeros(batch, 1, 2), torch.zeros(2), torch.zeros(batch, 1, 1)
    launch.wide_spans(launch.Inputs(*rows, real[:, None].expand(batch, 5, 1), None), real)
    assert grids
    assert all(size <= 65535 for grid in grids for size in grid[1:])
    assert all(len(range(*rows.indices(batch))) <= 65535 for rows in launch.pieces(batch, 1))


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # of torch, on itself
def test_transforms_see_plain_torch() -> None:
    """torch.func and forward-mode differentiation, which the kernels do not support."""
    given, direction = problem(), problem(seed=1).query
    others = given.keys, given.v, given.values, given.mask

    def ours(query: Tensor) -> Tensor:
        return additive_attention(query, *others)[0]

    def plain_context(query: Tensor) -> Tensor:
        return plain_attention(query, *others)[0]

    _, wanted = torch.func.jvp(plain_context, (given.query,), (direction,))
    torch.testing.assert_close(torch.func.jvp(ours, (given.query,), (direction,))[1], wanted)
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(ours(forward_ad.make_dual(given.query, direction))).tangent
    torch.testing.assert_close(found, wanted)

    def gradient(call: Callable[[Tensor], Tensor]) -> Tensor:
        return torch.func.grad(lambda query: call(query).sin().sum())(given.query)

    torch.testing.assert_close(gradient(ours), gradient(plain_context))


COMPILED = """
import torch
from regard.attention import additive_attention
generator = torch.Generator().manual_seed(0)
shapes = ((2, 6, 9), (2, 7, 9), (9,), (2, 7, 5))
given = [torch.randn(*shape, generator=generator).requires_grad_() for shape in shapes]
mask = torch.ones(2, 6, 7, dtype=torch.bool)

def loss(*given):
    context, weights = additive_attention(*given, mask)
    return context.sin().sum() + weights.square().sum()

compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
mine = torch.autograd.grad(compiled(*given), given)
torch.testing.assert_close(mine, torch.autograd.grad(loss(*given), given))
"""


def test_torch_compile_sees_one_whole_graph() -> None:
    """In a child process: the type checks of this one would break the graph."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILED], check=True, timeout=300)


def test_importing_it_loads_no_triton_pydantic_or_tokenizers() -> None:
    heavy = ["triton", "pydantic", "tokenizers"]
    code = f"""
import sys, torch
before = set(sys.modules)
import regard.attention
regard.attention.additive_attention
print([name for name in {heavy!r} if name in sys.modules and name not in before])"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.gpu
@pytest.mark.skipif(INTERPRETED, reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("deterministic", [False, True])
def test_sizes_of_real_work(dtype: torch.dtype, deterministic: bool) -> None:
    given = problem(4, 100, 300, 500, 300, dtype, gaussian=True)
    check(replace(given, v=given.v / 10), deterministic=deterministic)
