"""What a model hands to search at every step, and to training for a whole batch."""

from dataclasses import dataclass
from typing import Any, Protocol, Self

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.protocol import Trace


class State(Protocol):
    """Everything a decoder remembers between steps; it travels in the hand, never on the module."""

    def select(self, rows: Int[Tensor, " rows"]) -> Self: ...


@dataclass(frozen=True)
class Step:
    """One decoder step for every row of a batch."""

    logits: Float[Tensor, "rows vocabulary"]
    state: Any
    weights: Float[Tensor, "rows layer head source"] | None
    trace: tuple[Trace | None, ...] = ()


@dataclass(frozen=True)
class Decoded:
    """All steps of a batch: features for the output layer, and where the decoder looked if that was asked for."""

    features: Float[Tensor, "batch target feature"]
    weights: Float[Tensor, "batch layer head target source"] | None
    self_weights: Float[Tensor, "batch layer head target target"] | None = None
