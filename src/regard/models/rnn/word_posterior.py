"""Posterior alignment of a recurrent model: attention is the prior, the output layer gives the evidence.

    q_tj ∝ α_tj^prior · p(y_t | s_t, context = h_j)

`runtime/posterior.py` explains it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.masking import masked_softmax
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq, Source

LEAST = 1e-9
"""Lower bound of weights: the logarithm must be finite."""
MOST_LOGITS = 1 << 28
"""Logits that `word` evidence holds at a time."""


@torch.inference_mode()
def word_posterior(
    model: Seq2Seq,
    source: Source,
    tokens: Int[Tensor, "batch target"],
    wanted: Int[Tensor, "batch target"],
    prior: float,
    evidence: str,
    shift: int = 0,
) -> Float[Tensor, "batch 1 1 target source"]:
    """How probable each source position is as the origin of each word of `wanted`, which follows `tokens`.

    The prior is the attention of the step `shift` later; the last step, which has none later, takes its own.
    """
    decoder = model.decoder
    assert isinstance(decoder, RecurrentDecoder)
    state = model.start(source)
    decoded = decoder(tokens, state, want_weights=True)
    assert decoded.states is not None
    assert decoded.weights is not None
    weights = decoded.weights[:, 0, 0].float()
    weights = torch.cat([weights[:, shift:], weights[:, weights.size(1) - shift :]], dim=1)
    values = state.memory.values
    if evidence == "word":
        known = _word_evidence(decoder, decoded.states.size(2), values, wanted)
    else:
        known = _state_evidence(decoder, decoded.states, values, tokens, wanted)
    scores = prior * weights.clamp_min(LEAST).log() + known
    return masked_softmax(scores, state.memory.real[:, None])[:, None, None]


def _state_evidence(
    decoder: RecurrentDecoder,
    states: Float[Tensor, "batch target state"],
    values: Float[Tensor, "batch source value"],
    tokens: Int[Tensor, "batch target"],
    wanted: Int[Tensor, "batch target"],
) -> Float[Tensor, "batch target source"]:
    """ln p(y_t | s_t, h_j), one step at a time: the logits of all would be target × source × vocabulary."""
    words, places = decoder.embedding(tokens), values.size(1)
    evidence = []
    for t in range(tokens.size(1)):
        seen = [x[:, t, None].expand(-1, places, -1) for x in (states, words)]
        chances = decoder.readout(decoder.readout.features(seen[0], values, seen[1])).float().log_softmax(dim=2)
        evidence.append(chances.gather(2, wanted[:, t, None, None].expand(-1, places, 1))[..., 0])
    return torch.stack(evidence, dim=1)


def _word_evidence(
    decoder: RecurrentDecoder,
    state_width: int,
    values: Float[Tensor, "batch source value"],
    wanted: Int[Tensor, "batch target"],
) -> Float[Tensor, "batch target source"]:
    """ln p(y_t | h_j): with a zero state and no previous word."""
    places, vocabulary = values.size(1), decoder.readout.output.out_features
    rows = max(1, MOST_LOGITS // (places * vocabulary))
    evidence = []
    for some, words in zip(torch.split(values, rows), torch.split(wanted, rows), strict=True):
        nothing = [some.new_zeros(*some.shape[:2], width) for width in (state_width, decoder.embedding.embedding_dim)]
        chances = decoder.readout(decoder.readout.features(nothing[0], some, nothing[1])).float().log_softmax(dim=2)
        evidence.append(chances.gather(2, words[:, None].expand(-1, places, -1)).transpose(1, 2))
    return torch.cat(evidence)
