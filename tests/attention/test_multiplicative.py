"""Luong's scores: special cases of each other, and their functional form."""

import pytest
import torch

from regard.attention import LuongDot, LuongGeneral, lengths_to_mask
from regard.attention.attend import attend
from regard.attention.multiplicative.functional import dot_scores

from .conftest import QUERY, STATE, Example


def test_general_with_the_identity_is_dot(example: Example) -> None:
    general, dot = LuongGeneral(QUERY, STATE).double(), LuongDot(QUERY)
    with torch.no_grad():
        general.W_a.copy_(torch.eye(QUERY))
    answers = [module(example.query, module.prepare(example.states, example.real)) for module in (general, dot)]
    torch.testing.assert_close(answers[0].weights, answers[1].weights, rtol=0, atol=1e-12)


def test_general_bridges_different_widths() -> None:
    module = LuongGeneral(3, 5)
    seen = module(torch.ones(2, 4, 3), module.prepare(torch.ones(2, 6, 5), torch.ones(2, 6, dtype=torch.bool)))
    assert seen.context.shape == (2, 4, 5)


def test_dot_refuses_unequal_widths() -> None:
    with pytest.raises(ValueError, match=r"query \(3 wide\) with the states \(5 wide\).*take LuongGeneral"):
        LuongDot(3, 5)


def test_functional_gradcheck() -> None:
    generator = torch.Generator().manual_seed(3)
    sizes = ((2, 3, 4), (2, 5, 4), (2, 5, 3))
    tensors = [torch.randn(*size, generator=generator, dtype=torch.float64).requires_grad_() for size in sizes]
    mask = lengths_to_mask(torch.tensor([5, 2]))[:, None].expand(2, 3, 5)
    assert torch.autograd.gradcheck(lambda q, k, v: attend(dot_scores(q, k), v, mask), tensors)
