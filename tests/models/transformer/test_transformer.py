"""The Transformer: torch's own layers as the judge, positions, caches, and the weights of every layer and head."""

import pytest
import torch
from torch import Tensor, nn

from regard.attention.scaled_dot.module import MultiHeadAttention
from regard.models import Seq2Seq
from regard.models.transformer.decoder import TransformerDecoder
from regard.models.transformer.encoder import TransformerEncoder

from ..zoo import SOURCE, TOKENS, sentences, shared, transformer

EXACT = {"atol": 1e-10, "rtol": 1e-10}
BATCH = sentences(*SOURCE)


def parts(model: Seq2Seq) -> tuple[TransformerEncoder, TransformerDecoder]:
    assert isinstance(model.encoder, TransformerEncoder)
    assert isinstance(model.decoder, TransformerDecoder)
    return model.encoder, model.decoder


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.W_q, ours.W_k, ours.W_v]))
    theirs.out_proj.weight.copy_(ours.W_o)
    theirs.in_proj_bias.zero_()
    theirs.out_proj.bias.zero_()


@torch.no_grad()
def torch_s_own(model: Seq2Seq, source: Tensor, target: Tensor, real: Tensor) -> Tensor:
    """The same model of nn.TransformerEncoderLayer and nn.TransformerDecoderLayer, with our weights."""
    encoder, decoder = parts(model)
    sizes = {"d_model": 8, "nhead": 2, "dim_feedforward": 12, "dropout": 0.0, "norm_first": True, "batch_first": True}
    states = encoder.positions.place(encoder.positions.embedding(source), 0)
    for layer in encoder.layers:
        theirs = nn.TransformerEncoderLayer(**sizes).double()
        copy_attention(layer.attention, theirs.self_attn)
        for ours, name in ((layer.attention_norm, "norm1"), (layer.feedforward_norm, "norm2")):
            getattr(theirs, name).load_state_dict(ours.state_dict())
        theirs.linear1.load_state_dict(layer.feedforward.expand.state_dict())
        theirs.linear2.load_state_dict(layer.feedforward.contract.state_dict())
        states = theirs(states, src_key_padding_mask=~real)
    memory, states = encoder.norm(states), decoder.positions.place(decoder.positions.embedding(target), 0)
    future = nn.Transformer.generate_square_subsequent_mask(target.size(1), dtype=torch.float64)
    for layer in decoder.layers:
        other = nn.TransformerDecoderLayer(**sizes).double()
        copy_attention(layer.self_attention, other.self_attn)
        copy_attention(layer.cross_attention, other.multihead_attn)
        norms = (layer.self_norm, layer.cross_norm, layer.feedforward_norm)
        for ours, name in zip(norms, ("norm1", "norm2", "norm3"), strict=True):
            getattr(other, name).load_state_dict(ours.state_dict())
        other.linear1.load_state_dict(layer.feedforward.expand.state_dict())
        other.linear2.load_state_dict(layer.feedforward.contract.state_dict())
        states = other(states, memory, tgt_mask=future, memory_key_padding_mask=~real)
    return decoder.norm(states)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_it_equals_torchs_transformer(positions: str) -> None:
    model = shared(transformer(positions=positions, longest=9))
    real = torch.arange(5) < BATCH.source_lengths[:, None]
    wanted = torch_s_own(model, BATCH.source, TOKENS, real)
    torch.testing.assert_close(model(BATCH, TOKENS).features, wanted, **EXACT)


def test_every_layer_and_head_shows_its_weights() -> None:
    model = shared(transformer(encoder_layers=3, heads=4))
    weights = model(BATCH, TOKENS, want_weights=True).weights
    assert weights.shape == (3, 2, 4, 4, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]), **EXACT)
    assert not weights[1, ..., 3:].any()
    assert model(BATCH, TOKENS).weights is None


def test_a_step_computes_one_word_and_extends_the_cache() -> None:
    model = shared(transformer())
    state = model.start(BATCH)
    for t, words in enumerate(TOKENS.unbind(1)):
        assert state.position == t
        state = model.step(words, state).state
        for memory in state.written:
            assert memory is not None
            assert memory.keys.shape == (3, 2, t + 1, 4)


def test_a_sequence_can_continue_from_a_state() -> None:
    """Two words by steps, the rest at once."""
    model = shared(transformer(positions="learned", longest=9))
    whole, state = model(BATCH, TOKENS, want_weights=True), model.start(BATCH)
    for words in TOKENS[:, :2].unbind(1):
        state = model.step(words, state).state
    rest = model.decoder(TOKENS[:, 2:], state, want_weights=True)
    torch.testing.assert_close(rest.features, whole.features[:, 2:], **EXACT)
    torch.testing.assert_close(rest.weights, whole.weights[:, :, :, 2:], **EXACT)
