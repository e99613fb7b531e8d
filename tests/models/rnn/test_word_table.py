"""Gates by looking words up against a product for each of them."""

import pytest
import torch
from torch import nn

from regard.models.config import RecurrentConfig
from regard.models.presets import preset
from regard.models.rnn.word_table import by_table, table_pays
from regard.models.seq2seq import Seq2Seq

from ..zoo import Sentences


@pytest.mark.parametrize("padding", [None, 0, 2, 4])
def test_values_and_gradients_are_those_of_the_product(padding: int | None) -> None:
    torch.manual_seed(0)
    embedding, layer = nn.Embedding(5, 3, padding_idx=padding).double(), nn.Linear(3, 7).double()
    words, learned = torch.randint(5, (4, 6)), [embedding.weight, layer.weight, layer.bias]
    ways = layer(embedding(words)), by_table(embedding, words, layer.weight, layer.bias)
    found = [[gates, *torch.autograd.grad(gates.pow(3).sum(), learned)] for gates in ways]
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted, rtol=1e-12, atol=1e-12)


def test_it_is_for_few_different_words_that_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding, words = nn.Embedding(8, 3), torch.zeros(4, 4, dtype=torch.long)
    assert table_pays(embedding, words)
    assert not table_pays(embedding, words[:3])
    with torch.no_grad():
        assert not table_pays(embedding, words)
    hook = embedding.register_forward_hook(lambda *_: None)
    assert not table_pays(embedding, words)
    hook.remove()
    monkeypatch.setenv("REGARD_PLAIN", "1")
    assert not table_pays(embedding, words)


@pytest.mark.parametrize("changes", [{}, {"score": "general"}, {"embedding_dropout": 0.5}], ids=str)
def test_a_decoder_of_few_words_learns_as_by_plain_torch(
    changes: dict[str, str | float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one operation, in the step loop, and with dropped embeddings, of which there is no table."""
    size = {"embedding": 5, "encoder_units": 4, "decoder_units": 3, "dropout": 0.0, "initial": "zero"}
    config = preset("tutorial-lstm", None, **size, **changes)
    assert isinstance(config, RecurrentConfig)
    torch.manual_seed(0)
    model, found = Seq2Seq(config, 9, 6).double(), []
    source = Sentences(torch.tensor([[5, 6, 7, 8], [8, 5, 0, 0]]), torch.tensor([4, 2]))
    tokens = torch.randint(6, (2, 8))
    for plain in ("0", "1"):
        monkeypatch.setenv("REGARD_PLAIN", plain)
        torch.manual_seed(1)
        features = model(source, tokens).features
        learned = dict(model.named_parameters())
        gradients = torch.autograd.grad(features.pow(3).sum(), list(learned.values()), allow_unused=True)
        found.append([features, *(gradient for gradient in gradients if gradient is not None)])
    for given, wanted in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted, rtol=1e-9, atol=1e-11)
