"""What every mechanism does to the states before it looks at them."""

import torch

from regard.attention.attend import real_states


def test_padding_becomes_zero_whatever_it_held() -> None:
    states, real = torch.randn(2, 3, 4), torch.tensor([[True, True, False], [True, True, True]])
    states[0, 2] = float("nan")
    found = real_states(states, real)
    assert not found[0, 2].any()
    assert torch.equal(found[real], states[real])


def test_a_batch_without_padding_is_as_it_was() -> None:
    states = torch.randn(2, 3, 4)
    assert torch.equal(real_states(states, torch.ones(2, 3, dtype=torch.bool)), states)


def test_it_runs_where_a_mask_cannot_be_looked_at() -> None:
    states, real = torch.randn(5, 2, 3, 4), torch.rand(5, 2, 3) > 0.5
    found = torch.func.vmap(real_states)(states, real)
    assert torch.equal(found, torch.where(real[..., None], states, 0.0))
