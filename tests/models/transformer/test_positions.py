"""Positions: the paper's sinusoids, and learned positions with a limit."""

import numpy as np
import pytest
import torch
from torch import nn

from regard.models.transformer.layers import Positions, sinusoids

from ..zoo import BOS, sentences, shared, transformer


def test_sinusoids_are_the_formula() -> None:
    wanted = np.empty((50, 12))
    for position in range(50):
        for i in range(6):
            angle = position / 10000 ** (2 * i / 12)
            wanted[position, 2 * i], wanted[position, 2 * i + 1] = np.sin(angle), np.cos(angle)
    found = sinusoids(torch.arange(50, dtype=torch.float64), 12)
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    np.testing.assert_allclose(sinusoids(torch.arange(50.0), 12).numpy(), wanted, atol=1e-5)
    torch.testing.assert_close(sinusoids(torch.tensor([7.0, 3.0]), 12), found[[7, 3]].float(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_words_are_scaled_and_placed_from_wherever_they_begin(kind: str) -> None:
    embedding = nn.Embedding(11, 8)
    positions = Positions(transformer(positions=kind, longest=9), embedding)
    words = torch.tensor([[4, 5, 6, 7]])
    placed = positions.place(embedding(words), 0)
    where = positions.learned.weight[:4] if positions.learned is not None else sinusoids(torch.arange(4.0), 8)
    torch.testing.assert_close(placed, embedding(words) * 8**0.5 + where)
    torch.testing.assert_close(positions.place(embedding(words[:, 2:]), 2), placed[:, 2:])


def test_half_precision_distinguishes_far_positions() -> None:
    """bf16 counts only to 256 in whole numbers, so the angles are computed in float32."""
    embedding = nn.Embedding(11, 8).bfloat16()
    with torch.no_grad():
        embedding.weight.zero_()
    words = embedding(torch.zeros(1, 2, dtype=torch.long))
    placed = Positions(transformer(), embedding).place(words, 1000)
    assert placed.dtype == torch.bfloat16
    torch.testing.assert_close(placed[0].float(), sinusoids(torch.tensor([1000.0, 1001.0]), 8), atol=4e-3, rtol=0)


def test_more_positions_than_learned_raise() -> None:
    model = shared(transformer(positions="learned", longest=3))
    reason = (
        r"a sequence of 4 pieces, but the model learned 3 positions: shorten it, or train with a larger \[model\] long"
    )
    with pytest.raises(ValueError, match=reason):
        model.start(sentences([5, 6, 7, 8]))
    with pytest.raises(ValueError, match=reason):
        model(sentences([5, 6, 7]), torch.tensor([[BOS, 4, 5, 6]]))
    state = model.start(sentences([5, 6, 7]))
    for _ in range(3):
        state = model.step(torch.tensor([BOS]), state).state
    with pytest.raises(ValueError, match=reason):
        model.step(torch.tensor([BOS]), state)


def test_sinusoids_have_no_length_limit() -> None:
    model = shared(transformer(longest=3))
    assert model(sentences([5, 6, 7, 8]), torch.tensor([[BOS, 4, 5, 6]])).features.isfinite().all()
