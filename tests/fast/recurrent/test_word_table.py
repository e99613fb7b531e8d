"""Input gates by table look-up: when the table is used, and that hooks and users' modules still reach the gates."""

import pytest
import torch
from torch import nn

from candidates import candidates
from models.zoo import Sentences
from regard.fast.recurrent.word_table import word_gates
from regard.models.model_config import RecurrentConfig
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq
from regard.registry import operation_of, recorded

WORDS = torch.zeros(4, 4, dtype=torch.long)


@pytest.mark.parametrize("padding", [None, 0, 2, 4])
def test_values_and_gradients_equal_the_product(padding: int | None) -> None:
    torch.manual_seed(0)
    embedding, layer = nn.Embedding(5, 3, padding_idx=padding).double(), nn.Linear(3, 7).double()
    words, learned = torch.randint(5, (4, 6)), [embedding.weight, layer.weight, layer.bias]
    given = embedding, nn.Dropout(0.5).eval(), words, embedding(words), layer.weight, layer.bias
    with recorded() as chosen:
        ways = operation_of(word_gates).plain(*given), word_gates(*given)
    assert chosen == ["word_table"]
    found = [[gates, *torch.autograd.grad(gates.pow(3).sum(), learned, retain_graph=True)] for gates in ways]
    for wanted, gates in zip(*found, strict=True):
        torch.testing.assert_close(gates, wanted, rtol=1e-12, atol=1e-12)


def refusal(embedding: nn.Embedding, words: torch.Tensor, dropout: nn.Module | None = None) -> str | None:
    layer = nn.Linear(3, 7)
    dropout = nn.Dropout(0.0) if dropout is None else dropout
    (choice,) = candidates(word_gates, embedding, dropout, words, embedding(words), layer.weight, layer.bias)
    return choice.refusal


def test_conditions() -> None:
    embedding = nn.Embedding(8, 3)
    assert refusal(embedding, WORDS) is None
    assert refusal(embedding, WORDS[:3]) == "the vocabulary is larger than half of the batch"
    with torch.no_grad():
        assert refusal(embedding, WORDS) is not None
    for changes in ({"max_norm": 1.0}, {"sparse": True}, {"scale_grad_by_freq": True}):
        assert refusal(nn.Embedding(8, 3, **changes), WORDS) == "not a plain nn.Embedding"  # type: ignore[arg-type]
    assert refusal(embedding, WORDS, nn.Dropout(0.5)) is not None
    assert refusal(embedding, WORDS, nn.Dropout(0.5).eval()) is None


class Louder(nn.Module):
    def forward(self, embedded: torch.Tensor) -> torch.Tensor:
        return 3 * embedded


@pytest.mark.parametrize("own", ["embedding hook", "dropout hook", "dropout"])
def test_changes_of_embeddings_by_the_user_reach_the_gates(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
