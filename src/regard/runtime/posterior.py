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
from jaxtyping import Float

from regard.models.model_config import RecurrentConfig
from regard.models.rnn.word_posterior import LEAST
from regard.models.seq2seq import Seq2Seq
from regard.text.input_error import InputError

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
def quick_products(device: torch.device) -> Iterator[None]:
    """On a GPU use TF32 products, with a relative error of about 1e-3: in float32 the output layer for 150,000 pairs
    took minutes. A weight that close to a threshold may fall on either side of it."""
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
