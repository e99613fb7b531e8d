"""Which way additive attention takes to learn from little on a GPU, and that both ways say the same."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import additive_attention
from regard.attention.additive import op

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS"),  # the first backward of a process, if it is here
]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which of the two ran."""
    seen: list[str] = []

    def spy(name: str, whole: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **more: Any) -> Any:
            seen.append(name)
            return whole(*arguments, **more)

        return called

    monkeypatch.setattr(op.launch, "forward", spy("fused", op.launch.forward))
    monkeypatch.setattr(op.functional, "additive_attention", spy("plain", op.functional.additive_attention))
    return seen


def given(batch: int, words: int, width: int) -> tuple[list[Tensor], Tensor]:
    torch.manual_seed(0)
    shapes = [(batch, words, width), (batch, words, width), (width,), (batch, words, width)]
    mask = torch.arange(words, device="cuda") < words - 2
    return [torch.randn(shape, device="cuda").requires_grad_() for shape in shapes], mask.expand(batch, words, words)


def test_small_is_plain_and_large_is_fused_and_both_agree(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    tensors, mask = given(3, 9, 16)
    outside = torch.randn(3, 9, 16, device="cuda")
    answers = []
    for small in (op.SMALL, 3 * 9 * 9 * 16 - 1):
        monkeypatch.setattr(op, "SMALL", small)
        context, weights = additive_attention(*tensors, mask)
        answers.append([context, weights, *torch.autograd.grad(context, tensors, outside)])
    assert calls == ["plain", "fused"]
    for one, other in zip(*answers, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_without_gradients_it_is_fused(calls: list[str]) -> None:
    tensors, mask = given(3, 9, 16)
    with torch.no_grad():
        additive_attention(*tensors, mask)
    assert calls == ["fused"]


def test_nothing_that_nobody_may_see_reaches_a_result() -> None:
    tensors, mask = given(3, 9, 16)
    clean = additive_attention(*tensors, mask)[0]
    right = torch.autograd.grad(clean.sum(), tensors)
    with torch.no_grad():
        for place in (1, 3):
            tensors[place][:, -2:] = float("nan")
    found = additive_attention(*tensors, mask)[0]
    torch.testing.assert_close(found, clean)
    for one, other in zip(torch.autograd.grad(found.sum(), tensors), right, strict=True):
        torch.testing.assert_close(one, other)
