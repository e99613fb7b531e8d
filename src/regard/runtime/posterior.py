"""Posterior alignment: p(link given the target word), with attention as the prior and the output layer as evidence.

Attention at step t is computed before the word y_t is known. Once the word is known, Bayes' rule gives:

    q_tj ∝ α_tj^prior · p(y_t | s_t, context = h_j)

where the context is one annotation instead of the mean of all. A prior of 1 is Bayes' rule; a lower one gives attention
less weight. For a model trained to align at the next step, which has read the word (train.guide.shift = 1), the prior
is that step's attention: α_{t+1,j}.

The words written before make many words likely in any context, especially function words. Evidence `word` therefore
leaves the state and the last word out: p(y_t | context = h_j), the output layer as a dictionary. The output layer then
runs once for each source word, not once for each pair of words.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.models.model_config import RecurrentConfig
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq, Source
from regard.text.input_error import InputError

LEAST = 1e-9
"""Lower bound of weights: the logarithm must be finite."""


NUMBERS = 1 << 28
"""Logits that `word` evidence holds at a time."""

Evidence = Literal["state", "word"]


@dataclass(frozen=True)
class Posterior:
    """Exponent of attention as the prior, and the evidence: the output layer with or without the decoder's state."""

    prior: float = 1.0
    evidence: str = "state"

    def describe(self) -> str:
        """The keys of `regard align --set` that give the same posterior."""
        return f"posterior={self.prior:g} evidence={self.evidence}"


def undefined_for(model: Any) -> str:
    """Why no posterior is defined for this model; empty if one is."""
    if not isinstance(model, Seq2Seq):
        return "an ONNX folder"
    if not isinstance(model.config, RecurrentConfig):
        return "a Transformer"
    return f"score '{model.config.score}'" if model.config.score in ("none", "multi-head") else ""


def check_posterior(model: Any, posterior: Posterior) -> None:
    """Raise for models whose context is not a weighted mean of annotations, and for invalid settings."""
    prior = posterior.prior
    if kind := undefined_for(model):
        raise InputError(
            f"posterior needs the output layer for one source word at a time, which is not defined for {kind}: use a "
            "recurrent model with one head, or leave posterior out"
        )
    if not 0 <= prior <= 10:
        raise InputError(
            f"posterior={prior:g}: attention to this power is the prior, expected 0 to 10 (1: Bayes' rule)"
        )
    if posterior.evidence not in get_args(Evidence):
        raise InputError(
            f"evidence={posterior.evidence}: valid choices are {', '.join(get_args(Evidence))} "
            "(word: the source word alone explains)"
        )


@torch.inference_mode()
def word_posterior(
    model: Seq2Seq,
    source: Source,
    tokens: Int[Tensor, "batch target"],
    wanted: Int[Tensor, "batch target"],
    posterior: Posterior,
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
    with _quick_products(values.device):
        if posterior.evidence == "word":
            evidence = _word_evidence(decoder, decoded.states.size(2), values, wanted)
        else:
            evidence = _state_evidence(decoder, decoded.states, values, tokens, wanted)
    scores = posterior.prior * weights.clamp_min(LEAST).log() + evidence
    found: Tensor = scores.masked_fill(~state.memory.real[:, None], -torch.inf).softmax(dim=2)
    return found[:, None, None]


def explained(
    attention: Float[np.ndarray, "layer head target source"],
    evidence: Float[np.ndarray, "layer head target source"],
    prior: float,
    shift: int = 0,
) -> Float[np.ndarray, "layer head target source"]:
    """One pair's posterior from its attention and its posterior with prior 0: the evidence is computed once for all
    priors."""
    later = np.concatenate([attention[:, :, shift:], attention[:, :, attention.shape[2] - shift :]], axis=2)
    weights = np.maximum(later, LEAST).astype(np.float64) ** prior * evidence
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=attention.dtype)


@contextmanager
def _quick_products(device: torch.device) -> Iterator[None]:
    """On a GPU use TF32 products: three digits are enough to rank words."""
    before = None
    if device.type == "cuda":
        with suppress(RuntimeError):  # the user set torch's newer precision flag, which cannot be mixed with this one
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        if before is not None:
            torch.set_float32_matmul_precision(before)


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
    rows = max(1, NUMBERS // (places * vocabulary))
    evidence = []
    for some, words in zip(torch.split(values, rows), torch.split(wanted, rows), strict=True):
        nothing = [some.new_zeros(*some.shape[:2], width) for width in (state_width, decoder.embedding.embedding_dim)]
        chances = decoder.readout(decoder.readout.features(nothing[0], some, nothing[1])).float().log_softmax(dim=2)
        evidence.append(chances.gather(2, words[:, None].expand(-1, places, -1)).transpose(1, 2))
    return torch.cat(evidence)
