"""Scaled dot and multi-head attention: parity with torch's own, causal self-attention and its growing cache."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from regard.attention import MultiHeadAttention, ScaledDotAttention, lengths_to_mask
from regard.attention.attend import attend
from regard.attention.scaled_dot.functional import merge_heads, scaled_dot_scores, split_heads

from .conftest import QUERY, STATE, WIDTH, Example


def test_functional_equals_torch(example: Example) -> None:
    real = torch.ones(4, 6, dtype=torch.bool)
    scores = scaled_dot_scores(example.query, example.states)
    context, _ = attend(scores, example.states, real[:, None].expand(4, 5, 6))
    wanted = functional.scaled_dot_product_attention(example.query, example.states, example.states)
    torch.testing.assert_close(context, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_equals_torch(example: Example, bias: bool) -> None:
    ours = MultiHeadAttention(QUERY, STATE, QUERY, 2, bias=bias).double()
    theirs = nn.MultiheadAttention(QUERY, 2, bias=bias, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_q, ours.W_k, ours.W_v]))
        theirs.out_proj.weight.copy_(ours.W_o)
        if bias:
            for name in ("b_q", "b_k", "b_v", "b_o"):
                getattr(ours, name).normal_()
            theirs.in_proj_bias.copy_(torch.cat([ours.b_q, ours.b_k, ours.b_v]))
            theirs.out_proj.bias.copy_(ours.b_o)
    rows = slice(0, 3)  # torch gives NaN for the sentence without words
    query, states, real = example.query[rows], example.states[rows], example.real[rows]
    seen = ours(query, ours.prepare(states, real))
    context, weights = theirs(query, states, states, key_padding_mask=~real, average_attn_weights=False)
    torch.testing.assert_close(seen.context, context, rtol=0, atol=1e-12)
    torch.testing.assert_close(seen.weights, weights, rtol=0, atol=1e-12)


def test_one_head_with_identity_projections_is_scaled_dot(example: Example) -> None:
    module, plain = MultiHeadAttention(QUERY, STATE, QUERY, 1).double(), ScaledDotAttention(QUERY)
    with torch.no_grad():
        for name in ("W_q", "W_k", "W_v", "W_o"):
            getattr(module, name).copy_(torch.eye(QUERY))
    answers = [m(example.query, m.prepare(example.states, example.real)) for m in (module, plain)]
    torch.testing.assert_close(answers[0].weights, answers[1].weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(answers[0].context, answers[1].context, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["scaled-dot", "multi-head"])
def test_causal_self_attention_sees_no_future_and_its_cache_grows(example: Example, kind: str) -> None:
    module = example.build(kind)
    states = example.states
    real = torch.ones(4, 6, dtype=torch.bool)
    whole = module(states, module.prepare(states, real), causal=True, trace=True)
    assert not whole.weights.triu(1).any()
    assert torch.equal(whole.trace.mask[:, 0], torch.ones(6, 6).tril().bool().expand(4, 6, 6))
    cache = module.prepare(states[:, :0], real[:, :0])
    for step in range(6):
        cache = cache.extend(module.prepare(states[:, step : step + 1], real[:, :1]))
        seen = module(states[:, step : step + 1], cache, step, causal=True)
        torch.testing.assert_close(seen.context, whole.context[:, step : step + 1], rtol=0, atol=1e-12)
        torch.testing.assert_close(seen.weights[..., 0, :], whole.weights[..., step, : step + 1], rtol=0, atol=1e-12)


def test_causal_equals_torch(example: Example) -> None:
    module = ScaledDotAttention(STATE)
    states, real = example.states, torch.ones(4, 6, dtype=torch.bool)
    wanted = functional.scaled_dot_product_attention(states, states, states, is_causal=True)
    seen = module(states, module.prepare(states, real), causal=True)
    torch.testing.assert_close(seen.context, wanted, rtol=0, atol=1e-12)


def test_changing_the_future_changes_nothing_before_it(example: Example) -> None:
    module = example.build("multi-head")
    real, later = torch.ones(4, 6, dtype=torch.bool), example.states.clone()
    later[:, 3:] += 1
    before = module(example.states, module.prepare(example.states, real), causal=True).context
    after = module(later, module.prepare(later, real), causal=True).context
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=1e-12)
    assert (before[:, 3:] - after[:, 3:]).abs().max() > 0.01


def test_value_width_is_a_choice_and_the_state_width_by_default() -> None:
    assert MultiHeadAttention(3, 5, 8, 2).value_width == 5
    module = MultiHeadAttention(3, 5, 8, 2, value_width=7)
    seen = module(torch.ones(1, 2, 3), module.prepare(torch.ones(1, 4, 5), torch.ones(1, 4, dtype=torch.bool)))
    assert seen.context.shape == (1, 2, 7)
    assert seen.weights.shape == (1, 2, 2, 4)


def test_heads_split_and_merge_back() -> None:
    tensor = torch.arange(2 * 3 * 8).float().view(2, 3, 8)
    assert torch.equal(merge_heads(split_heads(tensor, 4)), tensor)
    assert torch.equal(split_heads(tensor, 4)[:, 1], tensor[..., 2:4])


@pytest.mark.parametrize("heads", [3, 0])
def test_heads_must_divide_the_width(heads: int) -> None:
    with pytest.raises(ValueError, match=f"width 8 into {heads} equal heads: make width a multiple of heads"):
        MultiHeadAttention(4, 4, WIDTH, heads)


def test_scaled_dot_refuses_unequal_widths() -> None:
    with pytest.raises(ValueError, match=r"query \(3 wide\) with the states \(5 wide\).*take MultiHeadAttention"):
        ScaledDotAttention(3, 5)


def test_functional_gradcheck() -> None:
    generator = torch.Generator().manual_seed(3)
    sizes = ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3))
    tensors = [torch.randn(*size, generator=generator, dtype=torch.float64).requires_grad_() for size in sizes]
    mask = lengths_to_mask(torch.tensor([5, 0]))[:, None, None].expand(2, 1, 3, 5)
    assert torch.autograd.gradcheck(lambda q, k, v: attend(scaled_dot_scores(q, k), v, mask), tensors)
