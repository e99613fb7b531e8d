"""Embeddings whose gradient is added up at its place learn what torch's own learn."""

import pytest
import torch
from torch import nn

from regard.models import lookup
from regard.models.lookup import adds, look_up

WORDS = torch.tensor([[3, 1, 0, 3], [5, 3, 0, 0]])


@pytest.mark.parametrize("padding", [0, None])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_the_same_words_and_gradients(padding: int | None, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    torch.manual_seed(0)
    embedding, words = nn.Embedding(7, 3, padding_idx=padding, device=device), WORDS.to(device)
    outside = torch.randn(2, 4, 3, device=device)
    wanted = embedding(words)
    (right,) = torch.autograd.grad(wanted, embedding.weight, outside)
    monkeypatch.setattr(lookup, "adds", lambda *_: True)
    found = look_up(embedding, words)
    torch.testing.assert_close(found, wanted, atol=0, rtol=0)
    (gradient,) = torch.autograd.grad(found, embedding.weight, outside)
    torch.testing.assert_close(gradient, right)


def test_not_where_somebody_wants_more() -> None:
    assert not adds(nn.Embedding(7, 3), WORDS), "on the CPU torch's own is fast"
    meta = WORDS.to("meta")
    assert look_up(nn.Embedding(7, 3, device="meta"), meta).shape == (2, 4, 3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_same_bits_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    words, embedding = WORDS.cuda(), nn.Embedding(7, 3, device="cuda")
    assert adds(embedding, words)
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True)
    assert not adds(embedding, words)
    monkeypatch.undo()
    assert not adds(nn.Embedding(7, 3, max_norm=1.0, device="cuda"), words)
    watched = nn.Embedding(7, 3, device="cuda")
    watched.register_full_backward_hook(lambda *_: None)
    assert not adds(watched, words)
    embedding.register_forward_hook(lambda *_: None)
    assert not adds(embedding, words)
