"""Which source word explains a word that is already known: attention as a prior, the output layer as the evidence.

Attention at step t is a guess made before the word y_t is known. Once it is, Bayes' rule says more:

    q_tj ∝ α_tj^prior · p(y_t | s_t, context = h_j)

where the context is one annotation instead of the mean of all. A prior of 1 is Bayes' rule; less trusts attention less.
A model that was taught to align at the next step, which has read the word (train.guide.shift = 1), gives that step's
attention as the prior: α_{t+1,j}.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.models.config import RecurrentConfig
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq, Source
from regard.text.errors import InputError

LEAST = 1e-9
"""What a weight of zero counts as: its logarithm must be finite."""


def check_posterior(model: Seq2Seq, prior: float) -> None:
    """Refuse models whose context is not the mean of single annotations, and priors that make no sense."""
    config = model.config
    if not isinstance(config, RecurrentConfig) or config.score in ("none", "multi-head"):
        kind = f"score '{config.score}'" if isinstance(config, RecurrentConfig) else "a Transformer"
        raise InputError(
            f"--posterior asks the output layer about one source word at a time, which {kind} cannot be asked: use a "
            "recurrent model with one head, or leave --posterior out"
        )
    if not 0 <= prior <= 10:
        raise InputError(
            f"--posterior {prior:g}: attention to this power is the prior, wanted 0 to 10 (1: Bayes' rule)"
        )


@torch.inference_mode()
def word_posterior(
    model: Seq2Seq,
    source: Source,
    tokens: Int[Tensor, "batch target"],
    wanted: Int[Tensor, "batch target"],
    prior: float,
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
    memory, words = state.memory, decoder.embedding(tokens)
    weights = decoded.weights[:, 0, 0].float()
    weights = torch.cat([weights[:, shift:], weights[:, weights.size(1) - shift :]], dim=1)
    evidence = torch.empty_like(weights)
    for t in range(tokens.size(1)):  # one step at a time: the logits of all would be target × source × vocabulary
        seen = [x[:, t, None].expand(-1, weights.size(2), -1) for x in (decoded.states, words)]
        logits = decoder.readout(decoder.readout.features(seen[0], memory.values, seen[1])).float()
        likely = logits.gather(2, wanted[:, t, None, None].expand(-1, weights.size(2), 1))
        evidence[:, t] = (likely - logits.logsumexp(dim=2, keepdim=True))[..., 0]
    scores = prior * weights.clamp_min(LEAST).log() + evidence
    posterior: Tensor = scores.masked_fill(~memory.real[:, None], -torch.inf).softmax(dim=2)
    return posterior[:, None, None]
