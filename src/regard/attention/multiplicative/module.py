"""Luong's three scores with their parameters: dot, general and concat."""

from torch import nn
from torch.nn import functional

from regard.attention.attend import attend_single, check_query, parameter, real_states
from regard.attention.multiplicative.functional import concat_scores, dot_scores
from regard.attention.protocol import Attended, Memory, Query, Real, States, Weights, Window
from regard.attention.window import GlobalWindow


class LuongDot(nn.Module):
    """`e_ts = s_t · h_s`: Luong, Pham and Manning 2015, section 3.1; query and states must be equally wide."""

    def __init__(
        self, query_width: int, state_width: int | None = None, *, window: Window | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        state_width = query_width if state_width is None else state_width
        if query_width != state_width:
            raise ValueError(
                f"LuongDot multiplies the query ({query_width} wide) with the states ({state_width} wide) as they are: "
                "make the widths equal, or take LuongGeneral, which learns a matrix between them"
            )
        self.query_width, self.state_width, self.value_width = query_width, state_width, state_width
        self.window = window if window is not None else GlobalWindow()
        self.dropout = dropout

    def prepare(self, states: States, real: Real) -> Memory:
        """The states are their own keys."""
        states = real_states("LuongDot", states, real, self.state_width)
        return Memory(states, states, real)

    def forward(
        self, query: Query, memory: Memory, position: int = 0, *, weights: Weights | None = None, trace: bool = False
    ) -> Attended:
        check_query("LuongDot", query, memory, self.query_width, (self.state_width,))
        view = self.window(query, memory.real, position)
        scores = dot_scores(query, memory.keys)[:, None]
        dropout = self.dropout if self.training else 0.0
        return attend_single(query, scores, memory, view, weights=weights, trace=trace, dropout=dropout)


class LuongGeneral(nn.Module):
    """`e_ts = s_t · W_a h_s`: Luong, Pham and Manning 2015, section 3.1; W_a is `[query, state]`."""

    def __init__(
        self, query_width: int, state_width: int, *, window: Window | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.query_width, self.state_width, self.value_width = query_width, state_width, state_width
        self.W_a = parameter(query_width, state_width)
        self.window = window if window is not None else GlobalWindow()
        self.dropout = dropout

    def prepare(self, states: States, real: Real) -> Memory:
        """Keys are `W_a h_s`, computed once for the sentence; each step is a plain dot product."""
        states = real_states("LuongGeneral", states, real, self.state_width)
        return Memory(functional.linear(states, self.W_a), states, real)

    def forward(
        self, query: Query, memory: Memory, position: int = 0, *, weights: Weights | None = None, trace: bool = False
    ) -> Attended:
        check_query("LuongGeneral", query, memory, self.query_width, (self.query_width,))
        view = self.window(query, memory.real, position)
        scores = dot_scores(query, memory.keys)[:, None]
        dropout = self.dropout if self.training else 0.0
        return attend_single(query, scores, memory, view, weights=weights, trace=trace, dropout=dropout)


class LuongConcat(nn.Module):
    """`e_ts = v · tanh(W_a [s_t; h_s])`: Luong, Pham and Manning 2015, section 3.1; W_a is `[width, query + state]`.

    The same function as `BahdanauAttention` without bias: W_a is [W_s W_h]; W_h multiplies the states once.
    """

    def __init__(
        self, query_width: int, state_width: int, width: int, *, window: Window | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.query_width, self.state_width, self.value_width = query_width, state_width, state_width
        self.W_a = parameter(width, query_width + state_width)
        self.v = parameter(width)
        self.window = window if window is not None else GlobalWindow()
        self.dropout = dropout

    def prepare(self, states: States, real: Real) -> Memory:
        """Keys are `W_h h`, the states' part of `W_a [s; h]`."""
        states = real_states("LuongConcat", states, real, self.state_width)
        return Memory(functional.linear(states, self.W_a[:, self.query_width :]), states, real)

    def forward(
        self, query: Query, memory: Memory, position: int = 0, *, weights: Weights | None = None, trace: bool = False
    ) -> Attended:
        check_query("LuongConcat", query, memory, self.query_width, (len(self.v),))
        view = self.window(query, memory.real, position)
        query_projected = functional.linear(query, self.W_a[:, : self.query_width])
        scores = concat_scores(query_projected, memory.keys, self.v)[:, None]
        dropout = self.dropout if self.training else 0.0
        return attend_single(query, scores, memory, view, weights=weights, trace=trace, dropout=dropout)
