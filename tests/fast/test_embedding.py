"""The embedding look-up whose gradient is added in place: its gradient, and when it is used."""

import pytest
import torch
from torch import nn

from regard.fast.embedding_gradient import look_up_adding
from regard.models.embedding import look_up
from regard.registry import explain

WORDS = torch.tensor([[3, 1, 0, 3], [5, 3, 0, 0]])


@pytest.mark.parametrize("padding", [0, None])
def test_values_and_gradients_equal_torch(padding: int | None) -> None:
    """On the CPU, where dispatch never chooses it."""
    torch.manual_seed(0)
    embedding, outside = nn.Embedding(7, 3, padding_idx=padding), torch.randn(2, 4, 3)
    wanted, found = embedding(WORDS), look_up_adding(embedding, WORDS)
    torch.testing.assert_close(found, wanted, atol=0, rtol=0)
    (right,) = torch.autograd.grad(wanted, embedding.weight, outside)
    (gradient,) = torch.autograd.grad(found, embedding.weight, outside)
    torch.testing.assert_close(gradient, right)


def refusal(embedding: nn.Embedding, words: torch.Tensor) -> str | None:
    (choice,) = explain(look_up, embedding, words)
    return choice.refusal


def test_not_used_on_the_cpu() -> None:
    assert refusal(nn.Embedding(7, 3), WORDS) == "gains nothing on a CPU"
    assert look_up(nn.Embedding(7, 3, device="meta"), WORDS.to("meta")).shape == (2, 4, 3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_conditions_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    words, embedding = WORDS.cuda(), nn.Embedding(7, 3, device="cuda")
    assert refusal(embedding, words) is None
    with torch.no_grad():
        assert refusal(embedding, words) == "no gradients are computed"
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True)
    assert "deterministic" in str(refusal(embedding, words))
    monkeypatch.undo()
    assert refusal(nn.Embedding(7, 3, max_norm=1.0, device="cuda"), words) == "not a plain nn.Embedding"
    embedding.register_full_backward_hook(lambda *_: None)
    assert "hooks" in str(refusal(embedding, words))
