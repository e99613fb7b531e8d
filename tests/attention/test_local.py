"""Local windows: their position, the Gaussian, and the gradient of p_t."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.attention import BahdanauAttention, LocalM, LocalP, lengths_to_mask

from .conftest import QUERY, Example


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 8), st.integers(0, 12), st.integers(1, 4), st.integers(0, 3))
def test_local_m_is_a_band_around_the_step(length: int, position: int, reach: int, spare: int) -> None:
    real = lengths_to_mask(torch.tensor([length]), length + spare)
    view = LocalM(reach)(torch.zeros(1, 3, 2), real, position)
    for row in range(3):
        center = min(position + row, max(length - 1, 0))
        wanted = [abs(place - center) <= reach and place < length for place in range(length + spare)]
        assert view.mask[0, 0, row].tolist() == wanted
        assert view.center[0, row] == center
        assert any(wanted) == (length > 0)
    assert view.gaussian is None


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 3), st.floats(-40, 40))
def test_local_p_uses_the_real_length_and_its_window_is_never_empty(
    length: int, reach: int, spare: int, push: float
) -> None:
    window = LocalP(reach, query_width=1, width=1).double()
    with torch.no_grad():
        window.W_p.fill_(100.0)
        window.v_p.fill_(push)
    real = lengths_to_mask(torch.tensor([length]), length + spare)
    view = window(torch.ones(1, 1, 1, dtype=torch.float64), real)
    center = length / (1 + torch.tensor(-push, dtype=torch.float64).exp())
    torch.testing.assert_close(view.center[0, 0], center)
    assert view.mask.any()
    assert not view.mask[..., length:].any()
    distance = torch.arange(length + spare) - center
    assert torch.equal(view.mask[0, 0, 0], (distance.abs() <= reach) & real[0])
    torch.testing.assert_close(view.gaussian[0, 0, 0], torch.exp(-2 * (distance / reach) ** 2))


def test_the_gaussian_multiplies_after_the_softmax_without_renormalising(example: Example) -> None:
    module = example.build("additive", "local-p")
    seen = module(example.query, module.prepare(example.states, example.real), trace=True)
    scores = seen.trace.scores.masked_fill(~seen.trace.mask, float("-inf"))[:3]
    wanted = torch.softmax(scores, dim=-1) * seen.trace.gaussian[:3]
    torch.testing.assert_close(seen.weights[:3], wanted, rtol=0, atol=1e-12)
    assert (seen.weights[:3].sum(dim=-1) < 1).all()


def test_p_t_learns_through_the_gaussian() -> None:
    """Values grow to the right: a loss that rewards a larger context moves the window to the right."""
    torch.manual_seed(0)
    window = LocalP(2, query_width=3, width=4)
    module = BahdanauAttention(3, 1, 4, window=window)
    states = torch.arange(8.0).view(1, 8, 1)
    real, query = torch.ones(1, 8, dtype=torch.bool), torch.randn(1, 1, 3)
    optimizer = torch.optim.SGD(window.parameters(), lr=0.1)
    start = window(query, real).center.item()
    for _ in range(20):
        optimizer.zero_grad()
        (-module(query, module.prepare(states, real)).context.sum()).backward()
        optimizer.step()
    assert window(query, real).center.item() > start + 0.5


def test_half_precision_distinguishes_neighbouring_positions() -> None:
    window = LocalP(3, QUERY, 4).to(torch.bfloat16)
    real = torch.ones(1, 900, dtype=torch.bool)
    query = torch.randn(1, 4, QUERY, generator=torch.Generator().manual_seed(0), dtype=torch.bfloat16)
    view = window(query, real)
    assert view.center.dtype == torch.float32
    assert view.gaussian.dtype == torch.bfloat16
    assert set(view.mask.sum(dim=-1).flatten().tolist()) <= {6, 7}


@pytest.mark.parametrize("make", [lambda: LocalM(0), lambda: LocalP(0, 3, 4)])
def test_reach_must_be_positive(make: object) -> None:
    with pytest.raises(ValueError, match="reach is 0, but a window needs at least 1 position to each side"):
        make()
