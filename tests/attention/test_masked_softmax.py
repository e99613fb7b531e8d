"""The masked softmax: equal to the reference, and NaN only if a real score is NaN."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from regard.attention import causal_mask, lengths_to_mask, masked_softmax
from regard.attention.masking import padding_mask
from regard.attention.worked import softmax_row

ordinary = st.floats(-50, 50)
wild = st.one_of(ordinary, st.sampled_from([1e308, -1e308, float("inf"), float("-inf")]))
shape = (3, 5)


@settings(deadline=None, max_examples=60)
@given(arrays(np.float64, shape, elements=ordinary), arrays(bool, shape))
def test_equals_the_reference(scores: np.ndarray, mask: np.ndarray) -> None:
    found = masked_softmax(torch.from_numpy(scores), torch.from_numpy(mask)).numpy()
    wanted = np.stack([softmax_row(row, keep) for row, keep in zip(scores, mask, strict=True)])
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@settings(deadline=None, max_examples=100)
@given(arrays(np.float64, shape, elements=wild), arrays(bool, shape))
def test_extreme_scores_give_a_distribution_and_finite_gradients(values: np.ndarray, keep: np.ndarray) -> None:
    mask = torch.from_numpy(keep)
    scores = torch.from_numpy(values).masked_fill(~mask, float("nan")).requires_grad_()
    weights = masked_softmax(scores, mask)
    (weights**2).sum().backward()
    assert weights.isfinite().all()
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1).double())
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert not scores.grad[~mask].any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_float_type_keeps_its_type_and_sums_to_one(dtype: torch.dtype) -> None:
    scores = torch.tensor([[3e4, -3e4, 3e4, 0.0], [float("-inf")] * 4], dtype=dtype)
    mask = torch.tensor([[True, True, True, False], [True, True, False, False]])
    weights = masked_softmax(scores, mask)
    assert weights.dtype == dtype
    torch.testing.assert_close(weights.float(), torch.tensor([[0.5, 0, 0.5, 0], [0.5, 0.5, 0, 0]]))


def test_the_mask_broadcasts_over_heads() -> None:
    scores = torch.zeros(2, 3, 4, 5)
    mask = lengths_to_mask(torch.tensor([5, 2]))[:, None, None, :]
    assert masked_softmax(scores, mask)[1, 2, 3].tolist() == [0.5, 0.5, 0, 0, 0]


def test_a_nan_at_a_real_position_is_not_hidden() -> None:
    assert masked_softmax(torch.tensor([[float("nan"), 1.0]]), torch.tensor([[True, True]])).isnan().any()


def test_gradcheck() -> None:
    scores = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    mask = torch.tensor([[True, True, True, True], [True, False, True, False], [False] * 4])
    assert torch.autograd.gradcheck(lambda scores: masked_softmax(scores, mask), (scores,))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(0, 3))
def test_lengths_to_mask_counts(lengths: list[int], spare: int) -> None:
    mask = lengths_to_mask(torch.tensor(lengths), max(lengths) + spare)
    assert mask.shape == (len(lengths), max(lengths) + spare)
    assert mask.sum(dim=1).tolist() == lengths
    assert (mask.int().diff(dim=1) <= 0).all()
    assert torch.equal(mask[:, : max(lengths)], lengths_to_mask(torch.tensor(lengths)))


def test_lengths_to_mask_refuses_a_size_too_small() -> None:
    with pytest.raises(ValueError, match="length 5 does not fit in size 4; give a larger size"):
        lengths_to_mask(torch.tensor([2, 5]), 4)


def test_padding_mask_does_not_read_lengths_on_the_host() -> None:
    """Reading them would be a device sync; tensors on the device `meta` hold nothing that can be read."""
    assert padding_mask(torch.tensor([2, 5], device="meta"), 5).shape == (2, 5)
    assert torch.equal(padding_mask(torch.tensor([2, 5]), 5), lengths_to_mask(torch.tensor([2, 5])))


def test_causal_mask_is_the_lower_triangle_and_its_rows_are_its_steps() -> None:
    whole = causal_mask(4, 4)
    assert torch.equal(whole, torch.ones(4, 4).tril().bool())
    for step in range(4):
        assert torch.equal(causal_mask(1, 4, step), whole[step : step + 1])
