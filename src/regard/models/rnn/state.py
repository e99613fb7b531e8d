"""What a recurrent decoder remembers between two steps."""

from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.protocol import Memory
from regard.attention.sharing import Owners, owners_after


@dataclass(frozen=True)
class RecurrentState:
    """The recurrence's layers, the vector that input feeding feeds, and the memory they look at, once a sentence."""

    memory: Memory
    hidden: tuple[Float[Tensor, "rows units"], ...]
    cell: tuple[Float[Tensor, "rows units"], ...] | None
    feed: Float[Tensor, "rows feed"] | None
    position: int = 0
    owners: Owners | None = None
    """Whose sentence each row looks at; None: row i at the memory's i-th."""

    def select(self, rows: Int[Tensor, " rows"]) -> "RecurrentState":
        owners, kept = owners_after(self.owners, rows, len(self.memory.real))
        return replace(
            self,
            memory=self.memory if kept is None else self.memory.select(kept),
            hidden=tuple(layer.index_select(0, rows) for layer in self.hidden),
            cell=None if self.cell is None else tuple(layer.index_select(0, rows) for layer in self.cell),
            feed=None if self.feed is None else self.feed.index_select(0, rows),
            owners=owners,
        )
