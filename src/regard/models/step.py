"""What a model returns, one step for search or a whole batch for training, and the protocol of decoder states."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.protocol import Trace


@runtime_checkable
class State(Protocol):
    """Everything a decoder remembers between steps; it is passed from step to step, never kept on the module."""

    def select(self, rows: Int[Tensor, " rows"]) -> "State":
        """The state whose row i is row `rows[i]` of this one; beam search reorders and repeats with it."""
        ...


@dataclass(frozen=True)
class Step:
    """One decoder step for every row of a batch; `trace` holds one entry for each layer if it was requested."""

    logits: Float[Tensor, "rows vocabulary"]
    state: State
    weights: Float[Tensor, "rows layer head source"] | None
    trace: tuple[Trace | None, ...] = ()


@dataclass(frozen=True)
class Decoded:
    """All steps of a batch: features for the output layer, and the attention weights if they were requested."""

    features: Float[Tensor, "batch target feature"]
    weights: Float[Tensor, "batch layer head target source"] | None
    states: Float[Tensor, "batch target state"] | None = None
    """The states s_t of a recurrent decoder."""


def given_weights(weights: Float[Tensor, "rows layer head source"] | None, layers: int) -> list[Tensor | None]:
    """One step's given weights as each layer's attention takes them: `[rows, head, 1, source]`."""
    if weights is None:
        return [None] * layers
    if weights.size(1) != layers:
        raise ValueError(
            f"step: the given weights have {weights.size(1)} layers, but this model attends in {layers}; "
            "give [rows, layer, head, source], the shape that step returns"
        )
    return list(weights[:, :, :, None].unbind(1))
