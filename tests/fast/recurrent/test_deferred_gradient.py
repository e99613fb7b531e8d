"""Deferred gradients of matrices equal autograd's, each computed as one product after the last step."""

import gc
import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from regard.fast.recurrent import deferred_gradient
from regard.fast.recurrent.deferred_gradient import DeferredGradient, deferred

EXACT = {"atol": 1e-12, "rtol": 1e-12}


def numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def tensors() -> tuple[Tensor, ...]:
    """A weight, its bias, the values of a batch, and what six steps read."""
    torch.manual_seed(0)
    return numbers(5, 4), numbers(5), numbers(3, 7, 5), numbers(6, 3, 4)


def loop(weight: Tensor, bias: Tensor, values: Tensor, inputs: Tensor, *, steps: int = 6) -> Tensor:
    """Everything a decoder does with a matrix, and something that only autograd knows."""
    total, y = inputs.new_zeros(()), inputs.new_zeros(3, 5)
    for x in inputs[:steps]:
        y = torch.addmm(y, x, weight.t()) + functional.linear(x[:, None], weight, bias)[:, 0]
        y = y + functional.linear(x[:, 1:3], weight[:, 1:3])
        weights = torch.softmax(y[:, None] @ values.mT, dim=-1)
        y = y + (weights[:, None] @ values[:, None])[:, 0, 0]
        total = total + y.square().sum() + (weight.exp() * values.unsqueeze(-3).mean()).sum()
    return total


def fast(tensors: tuple[Tensor, ...], **choices: int) -> Tensor:
    weight, bias, values, inputs = tensors
    return loop(deferred(weight), bias, deferred(values), inputs, **choices)


def same(found: tuple[Tensor, ...], wanted: tuple[Tensor, ...]) -> None:
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, **EXACT)
        assert type(one) is Tensor


def test_gradients_are_autograd_s(tensors: tuple[Tensor, ...]) -> None:
    plain, quick = loop(*tensors), fast(tensors)
    torch.testing.assert_close(quick, plain, **EXACT)
    same(torch.autograd.grad(quick, tensors), torch.autograd.grad(plain, tensors))


def test_backward_may_run_again_and_in_part(tensors: tuple[Tensor, ...]) -> None:
    """Rows recorded by a pass for the inputs alone are not counted by the next pass."""
    wanted = torch.autograd.grad(loop(*tensors), tensors)
    quick = fast(tensors)
    same(torch.autograd.grad(quick, tensors[3:], retain_graph=True), wanted[3:])
    same(torch.autograd.grad(quick, tensors, retain_graph=True), wanted)
    same(torch.autograd.grad(quick, tensors), wanted)


def test_two_losses_of_one_loop(tensors: tuple[Tensor, ...]) -> None:
    """Two loops over the same weights in one backward pass, of different lengths."""
    plain = loop(*tensors) + 2 * loop(*tensors, steps=3)
    same(torch.autograd.grad(fast(tensors) + 2 * fast(tensors, steps=3), tensors), torch.autograd.grad(plain, tensors))


def test_a_frozen_weight_gets_no_gradient(tensors: tuple[Tensor, ...]) -> None:
    tensors[0].requires_grad_(False)
    wanted = torch.autograd.grad(loop(*tensors), tensors[1:])
    same(torch.autograd.grad(fast(tensors), tensors[1:]), wanted)


def test_a_weights_gradient_is_computed_once_in_one_product(
    tensors: tuple[Tensor, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradient hooks, as distributed training uses them, run once for each weight."""
    received, added = [], []
    add = deferred_gradient._Record.add
    monkeypatch.setattr(
        deferred_gradient._Record, "add", lambda record, *rows: (added.append(record), add(record, *rows))
    )
    for tensor in tensors:
        tensor.register_post_accumulate_grad_hook(lambda tensor: received.append(id(tensor)))
    fast(tensors).backward()
    assert sorted(received) == sorted(map(id, tensors))
    assert [added.count(record) for record in set(added)] == [6] * 5


def test_without_gradients_nothing_is_recorded(tensors: tuple[Tensor, ...]) -> None:
    weight = deferred(tensors[0])
    with torch.no_grad():
        result = functional.linear(tensors[3][0], weight)
    assert isinstance(weight, DeferredGradient)
    assert weight.known == {}
    assert not result.requires_grad


def test_half_precision_multiplies_in_half_and_learns_in_full() -> None:
    torch.manual_seed(0)
    weight, inputs = torch.randn(5, 4, requires_grad=True), torch.randn(6, 3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        held = deferred(weight)
        results = [functional.linear(x, held) for x in inputs]
    torch.stack(results).float().square().sum().backward()
    assert results[0].dtype == torch.bfloat16
    assert weight.grad is not None
    found, weight.grad = weight.grad, None
    functional.linear(inputs, weight).square().sum().backward()
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, weight.grad, atol=0.3, rtol=0.03)


def test_a_weight_changed_before_backward_raises(tensors: tuple[Tensor, ...]) -> None:
    total = fast(tensors)
    with torch.no_grad():
        tensors[0].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


@pytest.mark.parametrize(
    "use",
    [
        lambda w, x: functional.linear(x, weight=w),
        lambda w, x: functional.linear(input=x, weight=w, bias=None),
        lambda w, x: torch.matmul(x, other=w.t()),
        lambda w, x: torch.addmm(x[:, :1], x, mat2=w.transpose(dim0=0, dim1=1)),
        lambda w, x: x[None] @ w.unsqueeze(dim=0).mT,
        lambda w, x: x * (w[0] @ w[1]),
        lambda w, x: functional.linear(x, w[2]),
        lambda w, x: x @ w[2],
        lambda w, x: x @ w[[1, 3, 1]].t() + x @ w[:, torch.tensor([0, 1, 2, 3])].t()[:, :3],
        lambda w, x: functional.linear(x[0], w),
    ],
)
def test_every_way_to_call_a_product(tensors: tuple[Tensor, ...], use: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Keyword arguments, single rows, other indices: a user's mechanism may be written in any way."""
    weight, x = tensors[0], tensors[3][0]
    plain, quick = use(weight, x), use(deferred(weight), x)
    torch.testing.assert_close(quick, plain, **EXACT)
    found, wanted = (torch.autograd.grad(y.square().sum(), (weight, tensors[3])) for y in (quick, plain))
    same(found, wanted)


def test_views_by_index_tensors_are_not_cached() -> None:
    """Two long index tensors have the same repr."""
    values, rows = deferred(numbers(1200, 3, 2)), torch.arange(1200)
    place = torch.zeros(1200, dtype=torch.long)
    other = place.clone()
    other[600] = 2
    assert not torch.equal(values[rows, place], values[rows, other])


def test_records_are_freed_with_the_graph_after_a_pass_for_the_inputs_alone(tensors: tuple[Tensor, ...]) -> None:
    gc.collect()
    gc.disable()
    try:
        total = fast(tensors)
        records = [weakref.ref(one) for one in gc.get_objects() if type(one) is deferred_gradient._Record]
        torch.autograd.grad(total, tensors[3:])
        del total
        assert records
        assert all(record() is None for record in records)
    finally:
        gc.enable()


def test_gradients_of_gradients_are_refused(tensors: tuple[Tensor, ...]) -> None:
    """Returned as constants they would make a gradient penalty a no-op."""
    with pytest.raises(RuntimeError, match="REGARD_PLAIN=1"):
        torch.autograd.grad(fast(tensors), tensors[0], create_graph=True)


def test_zero_rows_give_zero_gradients(tensors: tuple[Tensor, ...]) -> None:
    weight, bias, _, inputs = tensors
    found = functional.linear(inputs[:, :0], deferred(weight), bias)
    assert found.shape == (6, 0, 5)
    for gradient in torch.autograd.grad(found.sum(), (weight, bias)):
        assert not gradient.any()
