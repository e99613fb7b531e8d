"""Output layer and cross-entropy in pieces: torch's own loss and gradients for every piece size, on CPU and GPU."""

from collections.abc import Iterator, Sequence

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.utils.checkpoint import checkpoint

from candidates import candidates
from interpreter import INTERPRETED, kernels
from regard.fast.cross_entropy import fused_loss as cross_entropy
from regard.fast.cross_entropy.fused_loss import linear_cross_entropy

ROWS, WIDTH, VOCABULARY = 23, 13, 101
WORTH = cross_entropy.gains


@pytest.fixture(autouse=True)
def for_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry runs for small problems and in every precision."""
    monkeypatch.setattr(cross_entropy, "gains", lambda *_: True)


@pytest.mark.parametrize(
    ("device", "half", "rows", "runs"),
    [
        ("cpu", False, 8, True),
        ("cpu", True, 7, False),
        ("cuda", True, 8, True),
        ("cuda", True, 7, False),
        ("cuda", False, 8, False),
    ],
)
def test_it_runs_for_many_logits_and_on_a_gpu_in_half_precision_only(
    device: str, half: bool, rows: int, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_entropy, "MANY", 8 * VOCABULARY)
    monkeypatch.setattr(cross_entropy, "MANY_ON_GPU", 8 * VOCABULARY)
    dtype = torch.bfloat16 if half else torch.float32
    with FakeTensorMode():
        shapes = (rows, WIDTH), (VOCABULARY, WIDTH)
        features, weight = (torch.empty(shape, device=device, dtype=dtype) for shape in shapes)
        assert WORTH(features, weight) == runs


def test_few_logits_run_in_plain_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "gains", WORTH)
    given, wanted = draw()
    (found,) = candidates(linear_cross_entropy, *given, wanted)
    assert found.refusal == "gains only for many logits, and on a GPU only in half precision"


def draw(
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    rows: int = ROWS,
    width: int = WIDTH,
    vocabulary: int = VOCABULARY,
) -> tuple[list[Tensor], Tensor]:
    random = torch.Generator().manual_seed(0)
    shapes = (rows, width), (vocabulary, width), (vocabulary,)
    given = [torch.randn(shape, generator=random, dtype=torch.float64).to(device, dtype) for shape in shapes]
    return [x.requires_grad_() for x in given], torch.randint(vocabulary, (rows,), generator=random).to(device)


def torchs_own(given: list[Tensor], wanted: Tensor, smoothing: float) -> Tensor:
    features, weight, bias = given
    return F.cross_entropy(F.linear(features, weight, bias), wanted, label_smoothing=smoothing, reduction="sum")


@pytest.mark.parametrize("padded", [False, True], ids=["as on a CPU", "padded as on a GPU"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("piece", [8 * VOCABULARY, 8 * VOCABULARY * 7, 2**20])
def test_any_pieces_give_torchs_loss_and_gradients(
    smoothing: float, piece: int, padded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_entropy, "PIECE", piece)
    monkeypatch.setattr(cross_entropy, "_padded", lambda *_: padded)
    given, wanted = draw()
    own, plain = linear_cross_entropy(*given, wanted, smoothing)
    torch.testing.assert_close(own, torchs_own(given, wanted, smoothing))
    torch.testing.assert_close(plain, torchs_own(given, wanted, 0.0).detach())
    found = torch.autograd.grad(own * 3, given)
    torch.testing.assert_close(found, torch.autograd.grad(torchs_own(given, wanted, smoothing) * 3, given))


def test_a_gpu_without_triton_gets_padded_products_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "fusible", lambda _: False)
    with FakeTensorMode():
        features = torch.empty(2, 3, device="cuda")
    assert cross_entropy._padded(features, torch.bfloat16)
    assert not cross_entropy._padded(features, torch.float32)


def test_the_scale_is_in_the_loss_and_in_its_gradients() -> None:
    given, wanted = draw()
    own, plain = linear_cross_entropy(*given, wanted, 0.1, scale=0.25)
    torch.testing.assert_close(own, 0.25 * torchs_own(given, wanted, 0.1))
    torch.testing.assert_close(plain, torchs_own(given, wanted, 0.0).detach())
    torch.testing.assert_close(
        torch.autograd.grad(own, given), torch.autograd.grad(0.25 * torchs_own(given, wanted, 0.1), given)
    )


def test_the_plain_path_is_the_same_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    given, wanted = draw()
    fast = linear_cross_entropy(*given, wanted, 0.1, scale=0.25)
    monkeypatch.setenv("REGARD_PLAIN", "1")
    plain = linear_cross_entropy(*given, wanted, 0.1, scale=0.25)
    torch.testing.assert_close(plain, fast)
    assert not plain[1].requires_grad
    torch.testing.assert_close(torch.autograd.grad(plain[0], given), torch.autograd.grad(fast[0], given))


def test_only_the_loss_has_a_gradient_and_without_one_none_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    given, wanted = draw()
    assert not linear_cross_entropy(*given, wanted)[1].requires_grad
    monkeypatch.setattr(cross_entropy, "_cast", None)  # what gradients pass through
    with torch.no_grad():
        assert not linear_cross_entropy(*given, wanted)[0].requires_grad


def test_zero_rows_give_zero_loss() -> None:
    given, wanted = draw()
    own, plain = linear_cross_entropy(given[0][:0], *given[1:], wanted[:0])
    assert own == plain == 0
    assert not any(gradient.any() for gradient in torch.autograd.grad(own, given))


def test_autocast_runs_the_products_in_its_precision_and_sums_in_float32() -> None:
    given, wanted = draw(torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        own, _ = linear_cross_entropy(*given, wanted)
    exact = torchs_own(given, wanted, 0.0)
    assert own.dtype == torch.float32
    assert 0 < abs(own - exact) < 0.01 * exact
    assert all(gradient.dtype == torch.float32 for gradient in torch.autograd.grad(own, given))


def near(found: Sequence[Tensor], right: Sequence[Tensor], tolerance: float) -> None:
    for one, other in zip(found, right, strict=True):
        assert one.shape == other.shape
        torch.testing.assert_close(one.double(), other.double(), rtol=0, atol=tolerance * float(other.abs().max()))


@pytest.fixture
def poisoned() -> Iterator[None]:
    """Fill new memory with NaN, so that unwritten elements show."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


interpreted = pytest.mark.skipif(not INTERPRETED, reason="on a GPU, a test of its own runs the kernels")


@interpreted
@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("piece", [2 * VOCABULARY * 7, 2**20])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(("kind", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 5e-3), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_the_interpreted_kernels_give_torchs_loss_and_gradients(
    factor: float,
    kind: torch.dtype,
    tolerance: float,
    smoothing: float,
    piece: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Widths are padded for a GPU, and no value of the padding reaches a result."""
    monkeypatch.setattr(cross_entropy, "PIECE", piece)
    exact, wanted = draw()
    loss = 0.5 * torchs_own(exact, wanted, smoothing)
    right = torch.autograd.grad(loss * factor, exact)
    given, _ = draw(torch.float32)
    with kernels():
        with torch.autocast("cpu", dtype=kind, enabled=kind != torch.float32):
            own, plain = linear_cross_entropy(*given, wanted, smoothing, scale=0.5)
        found = torch.autograd.grad(own * factor, given)
    near([own.detach(), plain], [loss.detach(), torchs_own(exact, wanted, 0.0).detach()], tolerance)
    near(found, right, tolerance)
    assert all(gradient.dtype == torch.float32 for gradient in found)


@interpreted
@pytest.mark.usefixtures("poisoned")
def test_a_half_precision_model_gets_all_gradients() -> None:
    """Features and their gradient keep the padding, and the bias's gradient lies between the weights'."""
    exact, wanted = draw()
    right = torch.autograd.grad(3 * torchs_own(exact, wanted, 0.0), exact)
    given, _ = draw(torch.bfloat16)
    with kernels():
        found = torch.autograd.grad(3 * linear_cross_entropy(*given, wanted)[0], given)
    near(found, right, 3e-2)
    assert all(gradient.dtype == torch.bfloat16 for gradient in found)


@interpreted
@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("programs", [1, 1024])
@pytest.mark.parametrize(
    ("kind", "rows", "width", "vocabulary"),
    [
        (torch.float32, 1, 1, 1),
        (torch.float16, 1, 1, 1),
        (torch.float16, 3, 8, 9),
        (torch.float16, 2, 1024, 5),
        (torch.float16, 2, 1030, 5),
        (torch.float32, 3, 2, 4100),
    ],
)
def test_the_kernels_take_sizes_below_and_beyond_their_blocks(
    kind: torch.dtype, rows: int, width: int, vocabulary: int, programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All gradients are multiplied by one program, or by one for each block."""
    monkeypatch.setattr(cross_entropy, "MOST_PROGRAMS", programs)
    tolerance = 1e-5 if kind == torch.float32 else 5e-3
    exact, wanted = draw(rows=rows, width=width, vocabulary=vocabulary)
    with torch.no_grad():
        exact[1].div_(width**0.5)
    loss = torchs_own(exact, wanted, 0.5)
    given = [x.detach().to(kind).requires_grad_() for x in exact]
    with kernels():
        own, _ = linear_cross_entropy(*given, wanted, 0.5)
        found = torch.autograd.grad(3 * own, given)
    torch.testing.assert_close(own.double(), loss, rtol=tolerance, atol=tolerance)
    for one, right in zip(found, torch.autograd.grad(3 * loss, exact), strict=True):
        torch.testing.assert_close(one.double(), right, rtol=0, atol=tolerance * max(1e-3, float(right.abs().max())))


@interpreted
def test_logits_far_below_zero_do_not_vanish_in_the_kernels() -> None:
    """Masked elements at the end of a row count as even lower."""
    given, wanted = draw(torch.float32)
    features, weight, bias = (x.detach() for x in given)
    below = [features, weight, bias - 1000]
    with kernels():
        own, _ = linear_cross_entropy(*below, wanted)
    torch.testing.assert_close(own, torchs_own(below, wanted, 0.0), rtol=1e-4, atol=0)


@interpreted
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_the_kernels_accept_any_strides(kind: torch.dtype) -> None:
    """Transposed, with gaps, or one number for all."""
    given, wanted = draw(kind)
    features, weight, bias = (x.detach() for x in given)
    gaps = torch.stack([bias, torch.full_like(bias, torch.nan)], dim=1)[:, 0]
    places = torch.stack([wanted, VOCABULARY - 1 - wanted], dim=1)[:, 0]
    for strange in (
        [features.t().contiguous().t(), weight.t().contiguous().t(), gaps],
        [features[:1].expand(ROWS, -1), weight[:1].expand(VOCABULARY, -1), bias[:1].expand(VOCABULARY)],
    ):
        plain = [x.contiguous().requires_grad_() for x in strange]
        strange = [x.requires_grad_() for x in strange]
        with kernels():
            right = torch.autograd.grad(3 * linear_cross_entropy(*plain, wanted, 0.1)[0], plain)
            found = torch.autograd.grad(3 * linear_cross_entropy(*strange, places, 0.1)[0], strange)
        near(found, right, 1e-5)


@interpreted
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_without_smoothing_words_may_be_impossible_in_the_kernels_too(kind: torch.dtype) -> None:
    """A bias of -∞: nothing is multiplied with their mean."""
    given, wanted = draw(kind)
    impossible = next(word for word in range(VOCABULARY) if word not in wanted)
    with torch.no_grad():
        given[2][impossible] = -torch.inf
    right = linear_cross_entropy(*given, wanted)[0]
    with kernels():
        found = linear_cross_entropy(*given, wanted)[0]
        near([found.detach()], [right.detach()], 3e-2)
        near(torch.autograd.grad(found, given), torch.autograd.grad(right, given), 3e-2)


@interpreted
def test_float64_stays_exact_where_there_are_kernels() -> None:
    given, wanted = draw()
    with kernels():
        own, _ = linear_cross_entropy(*given, wanted, 0.1)
        torch.testing.assert_close(own, torchs_own(given, wanted, 0.1), rtol=1e-14, atol=0)


@interpreted
def test_zero_rows_give_zero_loss_in_the_kernels() -> None:
    given, wanted = draw(torch.bfloat16)
    with kernels():
        own, plain = linear_cross_entropy(given[0][:0], *given[1:], wanted[:0])
        assert own == plain == 0
        assert not any(gradient.any() for gradient in torch.autograd.grad(own, given))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_kernel_gives_torchs_loss_and_gradients(dtype: torch.dtype, tolerance: float, smoothing: float) -> None:
    exact, wanted = draw()
    given, _ = draw(torch.float32, "cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        own, _ = linear_cross_entropy(*given, wanted.cuda(), smoothing, scale=0.5)
    loss = torchs_own(exact, wanted, smoothing) * 0.5
    torch.testing.assert_close(own.cpu().double(), loss, rtol=tolerance, atol=0)
    for found, right in zip(torch.autograd.grad(own * 2, given), torch.autograd.grad(loss * 2, exact), strict=True):
        scale = float(right.abs().max())
        torch.testing.assert_close(found.cpu().double(), right, rtol=0, atol=tolerance * scale)


def test_a_second_backward_is_refused_instead_of_scaling_twice() -> None:
    given, wanted = draw()
    own, _ = linear_cross_entropy(*given, wanted)
    torch.autograd.grad(own * 3, given, retain_graph=True)
    with pytest.raises(RuntimeError, match="compute the loss again"):
        torch.autograd.grad(own * 3, given)


def test_gradients_saved_through_hooks_are_scaled() -> None:
    """As torch.utils.checkpoint does, which returns each saved tensor once."""
    given, wanted = draw()
    right = torch.autograd.grad(3 * linear_cross_entropy(*given, wanted)[0], given)
    with torch.autograd.graph.saved_tensors_hooks(Tensor.clone, Tensor.clone):
        hooked, _ = linear_cross_entropy(*given, wanted)
    torch.testing.assert_close(torch.autograd.grad(3 * hooked, given), right)
    again, _ = checkpoint(linear_cross_entropy, *given, wanted, use_reentrant=False)
    torch.testing.assert_close(torch.autograd.grad(3 * again, given), right)


def test_gradients_of_gradients_are_refused() -> None:
    """The gradient of the loss itself is the constant 1, so second gradients would silently be constants."""
    given, wanted = draw()
    with pytest.raises(RuntimeError, match="REGARD_PLAIN=1"):
        torch.autograd.grad(linear_cross_entropy(*given, wanted)[0], given, create_graph=True)
