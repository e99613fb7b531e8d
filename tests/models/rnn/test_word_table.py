"""Gates by looking words up against a product for each of them."""

import pytest
import torch
from torch import nn

from regard.models.config import RecurrentConfig
from regard.models.presets import preset
from regard.models.rnn.decoder import RecurrentDecoder
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
    for register in (
        embedding.register_forward_hook,
        embedding.register_forward_pre_hook,
        embedding.register_full_backward_hook,
        embedding.register_full_backward_pre_hook,
    ):
        hook = register(lambda *_: None)
        assert not table_pays(embedding, words)
        hook.remove()
    assert table_pays(embedding, words)
    for changes in ({"max_norm": 1.0}, {"sparse": True}, {"scale_grad_by_freq": True}):
        assert not table_pays(nn.Embedding(8, 3, **changes), words)  # type: ignore[arg-type]
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


class Louder(nn.Module):
    def forward(self, embedded: torch.Tensor) -> torch.Tensor:
        return 3 * embedded


@pytest.mark.parametrize("own", ["embedding hook", "dropout hook", "dropout"])
def test_what_somebody_does_to_embeddings_reaches_the_gates(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Seq2Seq(RecurrentConfig(embedding=5, encoder_units=4, decoder_units=3), 9, 6).double()
    decoder = model.decoder
    assert isinstance(decoder, RecurrentDecoder)
    if own == "embedding hook":
        decoder.embedding.register_forward_pre_hook(lambda _, words: (words[0].flip(0),))
    elif own == "dropout hook":
        decoder.embedding_dropout.register_forward_hook(lambda _, __, embedded: 3 * embedded)
    else:
        decoder.embedding_dropout = Louder()  # type: ignore[assignment]
    source = Sentences(torch.tensor([[5, 6, 7, 8], [8, 5, 0, 0]]), torch.tensor([4, 2]))
    tokens, found = torch.randint(6, (2, 8)), []
    for plain in ("0", "1"):
        monkeypatch.setenv("REGARD_PLAIN", plain)
        found.append(model(source, tokens).features)
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-11)
