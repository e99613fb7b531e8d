"""`BahdanauAttention`: additive attention as a module with its parameters."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.additive.functional import additive_scores
from regard.attention.attend import attend_single, check_query, parameter, real_states
from regard.attention.protocol import Attended, Memory, Query, Real, States, Weights, Window
from regard.attention.window import GlobalWindow
from regard.registry import replaceable


class BahdanauAttention(nn.Module):
    """`e_ts = v · tanh(W_s s_t + W_h h_s)`: Bahdanau, Cho and Bengio 2014, section 3.1 and appendix A.1.2.

    s_t is the query: Bahdanau's decoder calls it with its previous state, s_{t-1} in the paper (models/rnn/decoder.py).
    The paper writes W_a for W_s, U_a for W_h and v_a for v, and has no bias; `bias=True` adds b inside the tanh.
    Values are the states themselves, so the context is as wide as a state.
    """

    b: Tensor | None

    def __init__(
        self,
        query_width: int,
        state_width: int,
        width: int,
        *,
        bias: bool = False,
        window: Window | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.query_width, self.state_width, self.value_width = query_width, state_width, state_width
        self.W_s = parameter(width, query_width)
        self.W_h = parameter(width, state_width)
        self.v = parameter(width)
        self.register_parameter("b", nn.Parameter(torch.zeros(width)) if bias else None)
        self.window = window if window is not None else GlobalWindow()
        self.dropout = dropout

    def prepare(self, states: States, real: Real) -> Memory:
        """Project the keys once for the whole sentence: they do not depend on the step."""
        states = real_states("BahdanauAttention", states, real, self.state_width)
        return Memory(functional.linear(states, self.W_h, self.b), states, real)

    @replaceable
    def forward(
        self, query: Query, memory: Memory, position: int = 0, *, weights: Weights | None = None, trace: bool = False
    ) -> Attended:
        check_query("BahdanauAttention", query, memory, self.query_width, (len(self.v),))
        view = self.window(query, memory.real, position)
        scores = additive_scores(functional.linear(query, self.W_s), memory.keys, self.v)[:, None]
        dropout = self.dropout if self.training else 0.0
        return attend_single(query, scores, memory, view, weights=weights, trace=trace, dropout=dropout)
