"""Additive attention: two ways of writing it, its functional form, and a worked example by hand."""

import math

import numpy as np
import pytest
import torch

from regard.attention import BahdanauAttention, LuongConcat, lengths_to_mask
from regard.attention.additive.functional import additive_attention, additive_scores
from regard.attention.additive.reference import additive
from regard.attention.worked import global_view

from .conftest import QUERY, STATE, WIDTH, Example


def test_sum_of_projections_equals_one_matrix_over_the_concatenation(example: Example) -> None:
    """v·tanh(W_s s + W_h h + b) = v·tanh(W [s; h] + b) with W = [W_s W_h]."""
    module = BahdanauAttention(QUERY, STATE, WIDTH, bias=True).double()
    torch.nn.init.normal_(module.b)
    joined = torch.nn.Linear(QUERY + STATE, WIDTH).double()
    with torch.no_grad():
        joined.weight.copy_(torch.cat([module.W_s, module.W_h], dim=1))
        joined.bias.copy_(module.b)
    real = torch.ones(4, 6, dtype=torch.bool)
    seen = module(example.query, module.prepare(example.states, real), trace=True)
    pairs = torch.cat(
        [example.query[:, :, None].expand(-1, -1, 6, -1), example.states[:, None].expand(-1, 5, -1, -1)], dim=-1
    )
    torch.testing.assert_close(seen.trace.scores[:, 0], torch.tanh(joined(pairs)) @ module.v, rtol=0, atol=1e-12)


def test_concat_with_the_joined_matrix_is_additive(example: Example) -> None:
    bahdanau = BahdanauAttention(QUERY, STATE, WIDTH).double()
    luong = LuongConcat(QUERY, STATE, WIDTH).double()
    with torch.no_grad():
        luong.W_a.copy_(torch.cat([bahdanau.W_s, bahdanau.W_h], dim=1))
        luong.v.copy_(bahdanau.v)
    answers = [module(example.query, module.prepare(example.states, example.real)) for module in (bahdanau, luong)]
    torch.testing.assert_close(answers[0].weights, answers[1].weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(answers[0].context, answers[1].context, rtol=0, atol=1e-12)


def test_bias_is_part_of_the_reference(example: Example) -> None:
    module = BahdanauAttention(QUERY, STATE, WIDTH, bias=True).double()
    torch.nn.init.normal_(module.b)
    seen = module(example.query, module.prepare(example.states, example.real))
    parameters = {name: value.detach().numpy() for name, value in module.named_parameters()}
    assert set(parameters) == {"W_s", "W_h", "v", "b"}
    real = example.real[1].numpy()
    worked = additive(example.query[1].numpy(), example.states[1].numpy(), global_view(real, 5), **parameters)
    np.testing.assert_allclose(seen.weights[1, 0].detach().numpy(), worked.weights, atol=1e-10)


def test_one_step_by_hand() -> None:
    """Keys 0 and 1, query 0, v = 1: scores 0 and tanh 1, weights 1 : e^tanh(1)."""
    one = np.ones((1, 1))
    worked = additive(
        np.zeros((1, 1)), np.array([[0.0], [1.0]]), global_view(np.ones(2, bool), 1), W_s=one, W_h=one, v=one[0]
    )
    odds = math.exp(math.tanh(1))
    np.testing.assert_allclose(worked.scores, [[0, math.tanh(1)]])
    np.testing.assert_allclose(worked.weights, [[1 / (1 + odds), odds / (1 + odds)]])
    np.testing.assert_allclose(worked.context, [[odds / (1 + odds)]])


@pytest.mark.parametrize("lead", [(), (4,), (4, 2)])
def test_functional_takes_any_leading_axes(lead: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(3)
    query, keys, values = (torch.randn(*lead, *size, generator=generator) for size in ((5, 8), (6, 8), (6, 3)))
    v = torch.randn(8, generator=generator)
    mask = lengths_to_mask(torch.tensor([4]), 6).expand(5, 6)
    context, weights = additive_attention(query, keys, v, values, mask)
    assert context.shape == (*lead, 5, 3)
    torch.testing.assert_close(context, weights @ values)
    torch.testing.assert_close(
        additive_scores(query, keys, v)[..., 2, 3], torch.tanh(query[..., 2, :] + keys[..., 3, :]) @ v
    )


def test_functional_gradcheck() -> None:
    generator = torch.Generator().manual_seed(3)
    sizes = ((2, 3, 4), (2, 5, 4), (4,), (2, 5, 3))
    tensors = [torch.randn(*size, generator=generator, dtype=torch.float64).requires_grad_() for size in sizes]
    mask = lengths_to_mask(torch.tensor([5, 2]))[:, None].expand(2, 3, 5)
    gaussian = torch.rand(2, 3, 5, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda q, k, v, values, gaussian: additive_attention(q, k, v, values, mask, gaussian), (*tensors, gaussian)
    )


def test_scores_without_gradients_are_equal_and_do_not_change_the_keys() -> None:
    torch.manual_seed(0)
    query, keys, v = torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.randn(5)
    before = keys.clone()
    with torch.no_grad():
        quick = additive_scores(query, keys, v)
    torch.testing.assert_close(quick, additive_scores(query, keys, v))
    assert torch.equal(keys, before)
