"""Training of a Transformer replayed from CUDA graphs: hundreds of small operations, the same ones for each shape."""

import torch
from torch import Tensor, nn

from regard.attention.masking import padding_mask
from regard.fast.graphs.captured_module import run_captured
from regard.models.seq2seq import Seq2Seq, Source
from regard.models.step import Decoded
from regard.models.transformer.decoder import TransformerDecoder
from regard.models.transformer.encoder import TransformerEncoder
from regard.registry import Refusal, replaces

OUTSIDE = frozenset(
    {
        "encoder.positions.embedding.weight",
        "decoder.positions.embedding.weight",
        "decoder.readout.output.weight",
        "decoder.readout.output.bias",
    }
)
"""The parameters that the replayed part does not multiply with."""


def _unfit(
    model: Seq2Seq, source: Source, tokens: Tensor, *, forced: Tensor | None = None, want_weights: bool = False
) -> Refusal:
    if not isinstance(model.decoder, TransformerDecoder):
        return "not a Transformer"
    if tokens.device.type != "cuda":
        return "CUDA graphs need a CUDA device"
    if forced is not None or want_weights:
        return "attention weights or own words are requested"
    return None if torch.is_grad_enabled() and tokens.numel() else "no gradients are computed"


def _bypassed(model: Seq2Seq, *_: object, **__: object) -> tuple[nn.Module, ...]:
    return (model,)


@replaces(Seq2Seq.forward, unless=_unfit, bypasses=_bypassed)
def replayed_transformer(
    model: Seq2Seq, source: Source, tokens: Tensor, *, forced: None = None, want_weights: bool = False
) -> Decoded:
    """Encoder and decoder from CUDA graphs; the embeddings, which are looked up by number, stay outside."""
    assert isinstance(model.encoder, TransformerEncoder)
    assert isinstance(model.decoder, TransformerDecoder)
    real = padding_mask(source.source_lengths, source.source.size(1))
    words = (model.encoder.positions.embedding, source.source), (model.decoder.positions.embedding, tokens)
    given = (*(embedding(ids) for embedding, ids in words), real)
    inside = {name: x for name, x in model.named_parameters() if name not in OUTSIDE}
    (features,) = run_captured(features_of, model, inside, given, drops=True)
    return Decoded(features, None)


def features_of(
    model: nn.Module, source: Tensor, target: Tensor, real: Tensor, position: int = 0
) -> tuple[Tensor, ...]:
    """The features as a function of the embeddings of both sides."""
    assert isinstance(model, Seq2Seq)
    assert isinstance(model.encoder, TransformerEncoder)
    assert isinstance(model.decoder, TransformerDecoder)
    return (model.decoder.write(target, model.decoder.start(model.encoder.read(source, real))),)
