"""The protocols of a model that search can run: `Stepper`, `Step` and `State`."""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class State(Protocol):
    """All that a model remembers between two steps, one row for each hypothesis."""

    def select(self, rows: Int[Tensor, "rows"]) -> "State":
        """The state whose row i is row `rows[i]` of this one; rows may repeat, be missing, and change order."""
        ...


@runtime_checkable
class Step(Protocol):
    """The outcome of one step for every row."""

    @property
    def logits(self) -> Float[Tensor, "rows vocabulary"]: ...

    @property
    def state(self) -> State: ...

    @property
    def weights(self) -> Float[Tensor, "rows layer head source"] | None:
        """Where the model looked while it made these logits; None if it has no attention."""
        ...


@runtime_checkable
class Stepper(Protocol):
    """A model as search sees it. Only the model knows what `source` and `state` hold, hence `Any`."""

    def start(self, source: Any) -> State:
        """The state before the first token: row i belongs to sentence i."""
        ...

    def step(self, tokens: Int[Tensor, "rows"], state: Any) -> Step:
        """Feed each row its last token (BOS at first) and score every possible next one."""
        ...
