"""Small training problems on a GPU: additive attention runs in plain torch, with the same results."""

import pytest
import torch
from torch import Tensor

from regard.attention import additive_attention
from regard.fast.additive import fused
from regard.registry import recorded

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS"),  # the first backward of a process, if it is here
]


def given(batch: int, words: int, width: int) -> tuple[list[Tensor], Tensor]:
    torch.manual_seed(0)
    shapes = [(batch, words, width), (batch, words, width), (width,), (batch, words, width)]
    mask = torch.arange(words, device="cuda") < words - 2
    return [torch.randn(shape, device="cuda").requires_grad_() for shape in shapes], mask.expand(batch, words, words)


def test_small_is_plain_and_large_is_fused_and_both_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors, mask = given(3, 9, 16)
    outside = torch.randn(3, 9, 16, device="cuda")
    answers = []
    for small, entries in ((fused.SMALL, []), (3 * 9 * 9 * 16 - 1, ["attend_additive_fused"])):
        monkeypatch.setattr(fused, "SMALL", small)
        with recorded() as chosen:
            context, weights = additive_attention(*tensors, mask)
        assert chosen == entries
        answers.append([context, weights, *torch.autograd.grad(context, tensors, outside)])
    for one, other in zip(*answers, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_without_gradients_it_is_fused() -> None:
    tensors, mask = given(3, 9, 16)
    with torch.no_grad(), recorded() as chosen:
        additive_attention(*tensors, mask)
    assert chosen == ["attend_additive_fused"]


def test_masked_values_never_affect_a_result() -> None:
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
