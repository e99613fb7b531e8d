"""The interface between a model and its attention: the protocols `Attention` and `Window`, and what they exchange."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Query = Float[Tensor, "batch target query"]
States = Float[Tensor, "batch source state"]
Real = Bool[Tensor, "batch source"]
"""True at real positions, False at padding."""
Weights = Float[Tensor, "batch head target source"]


@dataclass(frozen=True)
class Memory:
    """The encoded source as attention reads it: keys to score, values to sum, and which positions are not padding.

    Single-head mechanisms hold `[batch, source, width]`, multi-head ones `[batch, head, source, width]`.
    """

    keys: Float[Tensor, "batch *head source key"]
    values: Float[Tensor, "batch *head source value"]
    real: Real

    def select(self, rows: Int[Tensor, " rows"]) -> "Memory":
        """The memory whose batch row i is this one's row `rows[i]`; beam search reorders and repeats with it."""
        return Memory(
            self.keys.index_select(0, rows), self.values.index_select(0, rows), self.real.index_select(0, rows)
        )

    def extend(self, other: "Memory") -> "Memory":
        """This memory followed by another along the source axis: the growing cache of causal self-attention."""
        return Memory(
            torch.cat([self.keys, other.keys], dim=-2),
            torch.cat([self.values, other.values], dim=-2),
            torch.cat([self.real, other.real], dim=1),
        )


@dataclass(frozen=True)
class View:
    """The positions that a window lets each step see, and the Gaussian and centre of local-p."""

    mask: Bool[Tensor, "batch 1 target source"]
    gaussian: Float[Tensor, "batch 1 target source"] | None = None
    center: Float[Tensor, "batch target"] | None = None


@dataclass(frozen=True)
class Trace:
    """The tensors of one call. `scores` are those before mask, softmax and Gaussian."""

    query: Query
    scores: Float[Tensor, "batch head target source"]
    mask: Bool[Tensor, "batch #head target source"]
    gaussian: Float[Tensor, "batch 1 target source"] | None = None
    center: Float[Tensor, "batch target"] | None = None
    context: Float[Tensor, "batch target value"] | None = None


@dataclass(frozen=True)
class Attended:
    """The result of attention. `weights` is None only for the fixed-vector baseline."""

    context: Float[Tensor, "batch target value"]
    weights: Weights | None
    trace: Trace | None = None
    memory: Memory | None = None
    """The memory for the next step, from a mechanism that changes it: location-sensitive attention keeps weights."""


@runtime_checkable
class Window(Protocol):
    """Chooses the positions that a step may see, independently of the score."""

    def __call__(self, query: Query, real: Real, position: int = 0) -> View: ...


@runtime_checkable
class Attention(Protocol):
    """A mechanism: `prepare` the source once, then call it for one step (target axis 1) or for all steps at once.

    `position` is the decoder step of the first query row; row i is step `position + i`.
    `weights`, when given, are used instead of the computed ones. State travels in the Memory, never on the module.
    """

    query_width: int
    value_width: int

    def prepare(self, states: States, real: Real) -> Memory: ...

    def __call__(
        self, query: Query, memory: Memory, position: int = 0, *, weights: Weights | None = None, trace: bool = False
    ) -> Attended: ...
