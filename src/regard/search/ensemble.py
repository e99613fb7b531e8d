"""`Ensemble`: several models with one vocabulary, searched as one Stepper."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.search.scoring import log_probabilities
from regard.search.stepper import State, Step, Stepper


@dataclass(frozen=True)
class EnsembleState:
    members: tuple[State, ...]

    def select(self, rows: Int[Tensor, "rows"]) -> "EnsembleState":
        return EnsembleState(tuple(member.select(rows) for member in self.members))


@dataclass(frozen=True)
class EnsembleStep:
    logits: Float[Tensor, "rows vocabulary"]
    state: EnsembleState
    weights: Float[Tensor, "rows layer head source"] | None


class Ensemble:
    """A Stepper whose probabilities are the mean of its members'.

    p(y) = 1/M Σ_m p_m(y), computed as logsumexp_m log p_m(y) - log M
    """

    def __init__(self, members: Sequence[Stepper]) -> None:
        if not members:
            raise ValueError("an ensemble needs at least one model, got none")
        self.members = tuple(members)

    def start(self, source: Any) -> EnsembleState:
        return EnsembleState(tuple(member.start(source) for member in self.members))

    def step(self, tokens: Int[Tensor, "rows"], state: EnsembleState) -> EnsembleStep:
        steps = [member.step(tokens, part) for member, part in zip(self.members, state.members, strict=True)]
        sizes = [step.logits.shape[-1] for step in steps]
        if len(set(sizes)) > 1:
            raise ValueError(f"the models of an ensemble must share one vocabulary, theirs have {sizes} entries")
        each = torch.stack([log_probabilities(step.logits) for step in steps])
        mean = torch.logsumexp(each, dim=0) - log(len(steps))
        return EnsembleStep(mean, EnsembleState(tuple(step.state for step in steps)), _mean_weights(steps))


def _mean_weights(steps: Sequence[Step]) -> Float[Tensor, "rows layer head source"] | None:
    """The mean over the members with attention; None if their source axes differ (they read different pieces).

    Where layers or heads differ, each member's weights are averaged over both first.
    """
    given = [
        step.weights.to(torch.promote_types(step.weights.dtype, torch.float32))
        for step in steps
        if step.weights is not None
    ]
    if not given or len({weights.shape[-1] for weights in given}) > 1:
        return None
    if len({weights.shape for weights in given}) > 1:
        given = [weights.mean(dim=(1, 2), keepdim=True) for weights in given]
    return torch.stack(given).mean(dim=0)
