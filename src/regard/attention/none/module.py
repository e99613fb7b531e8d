"""No attention: the fixed-vector baseline behind the same protocol."""

from torch import nn

from regard.attention.attend import check_query, real_states
from regard.attention.none.functional import summary
from regard.attention.protocol import Attended, Memory, Query, Real, States, Weights


class NoAttention(nn.Module):
    """`c_t = c`: one summary of the source at every step, as in Cho et al. 2014 and Sutskever et al. 2014.

    `c = [forward state at the last real position; backward state at the first]` for a bidirectional encoder, the last
    real state otherwise. `weights` and `trace` are None. The Memory has one position.
    """

    def __init__(self, query_width: int, state_width: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        if bidirectional and state_width % 2:
            raise ValueError(
                f"NoAttention: a bidirectional state holds two halves, but state_width is {state_width}; make it even"
            )
        self.query_width, self.state_width, self.value_width = query_width, state_width, state_width
        self.bidirectional = bidirectional

    def prepare(self, states: States, real: Real) -> Memory:
        """Keep only the summary of the states."""
        states = real_states("NoAttention", states, real, self.state_width)
        fixed = summary(states, real, self.bidirectional)[:, None]
        return Memory(fixed, fixed, real.any(dim=1, keepdim=True))

    def forward(
        self, query: Query, memory: Memory, position: int = 0, *, weights: Weights | None = None, trace: bool = False
    ) -> Attended:
        check_query("NoAttention", query, memory, self.query_width, (self.state_width,))
        if weights is not None:
            raise ValueError("NoAttention has no weights, so none can be given to it")
        return Attended(memory.values.expand(-1, query.shape[1], -1), None)
