"""State of the recurrent decoder between two steps, and the result of one step."""

from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.attend import select_sentences
from regard.attention.protocol import Attended, Memory


@dataclass(frozen=True)
class RecurrentState:
    """The source's memory, the states of the layers, and the features that input feeding passes on."""

    memory: Memory
    hidden: tuple[Float[Tensor, "rows units"], ...]
    cell: tuple[Float[Tensor, "rows units"], ...] | None
    feed: Float[Tensor, "rows feed"] | None
    position: int = 0

    def select(self, rows: Int[Tensor, " rows"]) -> "RecurrentState":
        """The state whose row i is row `rows[i]` of this one."""
        (memory,) = select_sentences((self.memory,), rows)
        return replace(
            self,
            memory=memory,
            hidden=tuple(layer.index_select(0, rows) for layer in self.hidden),
            cell=None if self.cell is None else tuple(layer.index_select(0, rows) for layer in self.cell),
            feed=None if self.feed is None else self.feed.index_select(0, rows),
        )


@dataclass(frozen=True)
class AdvancedStep:
    """One step of the decoder: s_t, the result of attention, the features for the output layer, the state after it."""

    output: Float[Tensor, "batch units"]
    attended: Attended
    features: Float[Tensor, "batch feature"]
    state: RecurrentState
