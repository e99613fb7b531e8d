"""`real_states`: zeros at padding before any product."""

import torch

from regard.attention.attend import real_states


def test_padding_becomes_zero() -> None:
    states, real = torch.randn(2, 3, 4), torch.tensor([[True, True, False], [True, True, True]])
    states[0, 2] = float("nan")
    found = real_states("test", states, real, 4)
    assert not found[0, 2].any()
    assert torch.equal(found[real], states[real])


def test_a_batch_without_padding_is_unchanged() -> None:
    states = torch.randn(2, 3, 4)
    assert torch.equal(real_states("test", states, torch.ones(2, 3, dtype=torch.bool), 4), states)


def test_real_states_does_not_read_the_mask_on_the_host() -> None:
    states, real = torch.randn(5, 2, 3, 4), torch.rand(5, 2, 3) > 0.5
    found = torch.func.vmap(lambda *given: real_states("test", *given, 4))(states, real)
    assert torch.equal(found, torch.where(real[..., None], states, 0.0))
