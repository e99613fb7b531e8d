"""The fixed-vector baseline: one summary for every step."""

import pytest
import torch

from regard.attention import NoAttention, lengths_to_mask


def states() -> torch.Tensor:
    return torch.arange(2 * 3 * 4).float().view(2, 3, 4)


def test_the_last_real_state_at_every_step() -> None:
    module = NoAttention(5, 4)
    seen = module(torch.zeros(2, 7, 5), module.prepare(states(), lengths_to_mask(torch.tensor([3, 2]))))
    assert seen.weights is None
    assert torch.equal(seen.context, torch.stack([states()[0, 2], states()[1, 1]])[:, None].expand(2, 7, 4))


def test_a_bidirectional_encoder_ends_at_the_first_position() -> None:
    module = NoAttention(5, 4, bidirectional=True)
    memory = module.prepare(states(), lengths_to_mask(torch.tensor([3, 2])))
    seen = module(torch.zeros(2, 1, 5), memory)
    first, last = states()[:, 0], torch.stack([states()[0, 2], states()[1, 1]])
    assert torch.equal(seen.context[:, 0], torch.cat([last[:, :2], first[:, 2:]], dim=1))


def test_an_empty_source_gives_zeros() -> None:
    module = NoAttention(5, 4)
    seen = module(torch.zeros(2, 1, 5), module.prepare(torch.zeros(2, 0, 4), torch.zeros(2, 0, dtype=torch.bool)))
    assert not seen.context.any()


def test_it_refuses_weights_and_odd_halves() -> None:
    module = NoAttention(5, 4)
    memory = module.prepare(states(), torch.ones(2, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match="has no weights, so none can be given"):
        module(torch.zeros(2, 1, 5), memory, weights=torch.ones(2, 1, 1, 1))
    with pytest.raises(ValueError, match="two halves, but state_width is 3; make it even"):
        NoAttention(5, 3, bidirectional=True)
