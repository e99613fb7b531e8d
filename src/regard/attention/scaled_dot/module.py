"""Scaled dot-product and multi-head attention with their parameters."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.attend import attend, attend_single, check_query, parameter, real_states
from regard.attention.masking import causal_mask
from regard.attention.protocol import Attended, Memory, Query, Real, States, Trace, View, Weights, Window
from regard.attention.scaled_dot.functional import merge_heads, scaled_dot_scores, split_heads
from regard.attention.window import GlobalWindow


class ScaledDotAttention(nn.Module):
    """`e_ts = s_t · h_s / √width`: Vaswani et al. 2017, section 3.2.1, with queries and states as they are."""

    def __init__(
        self, query_width: int, state_width: int | None = None, *, window: Window | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        state_width = query_width if state_width is None else state_width
        if query_width != state_width:
            raise ValueError(
                f"ScaledDotAttention multiplies the query ({query_width} wide) with the states ({state_width} wide) as "
                "they are: make the widths equal, or take MultiHeadAttention, which projects both"
            )
        self.query_width, self.state_width, self.value_width = query_width, state_width, state_width
        self.window = window if window is not None else GlobalWindow()
        self.dropout = dropout

    def prepare(self, states: States, real: Real) -> Memory:
        """The states are their own keys."""
        states = real_states("ScaledDotAttention", states, real, self.state_width)
        return Memory(states, states, real)

    def forward(
        self,
        query: Query,
        memory: Memory,
        position: int = 0,
        *,
        weights: Weights | None = None,
        trace: bool = False,
        causal: bool = False,
    ) -> Attended:
        check_query("ScaledDotAttention", query, memory, self.query_width, (self.state_width,))
        view = self.window(query, memory.real, position)
        view = _causal(view, position) if causal else view
        scores = scaled_dot_scores(query, memory.keys)[:, None]
        dropout = self.dropout if self.training else 0.0
        return attend_single(query, scores, memory, view, weights=weights, trace=trace, dropout=dropout)


class MultiHeadAttention(nn.Module):
    """`W_o [c^1; …; c^H]`, `c^i` the scaled dot attention of `W_q s`, `W_k h`, `W_v h` cut into H parts.

    Vaswani et al. 2017, section 3.2.2. Cross attention of a recurrent or Transformer decoder; also self-attention,
    where `causal=True` hides the future and the cache is a Memory that grows:

    ```
    cache = cache.extend(attention.prepare(state, ones))        # state [batch, 1, width], ones [batch, 1] all True
    attention(state, cache, position, causal=True)              # row i sees source positions 0 … position + i
    ```

    The paper has no biases; `bias=True` gives one to each projection. The context is as wide as a state by default.
    """

    b_q: Tensor | None
    b_k: Tensor | None
    b_v: Tensor | None
    b_o: Tensor | None

    def __init__(
        self,
        query_width: int,
        state_width: int,
        width: int,
        heads: int,
        *,
        value_width: int | None = None,
        bias: bool = False,
        window: Window | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(
                f"MultiHeadAttention cuts width {width} into {heads} equal heads: make width a multiple of heads"
            )
        self.query_width, self.state_width = query_width, state_width
        self.value_width = state_width if value_width is None else value_width
        self.heads = heads
        self.W_q = parameter(width, query_width)
        self.W_k = parameter(width, state_width)
        self.W_v = parameter(width, state_width)
        self.W_o = parameter(self.value_width, width)
        for name, size in (("b_q", width), ("b_k", width), ("b_v", width), ("b_o", self.value_width)):
            self.register_parameter(name, nn.Parameter(torch.zeros(size)) if bias else None)
        self.window = window if window is not None else GlobalWindow()
        self.dropout = dropout

    def prepare(self, states: States, real: Real) -> Memory:
        """Project keys and values once: a decoder's cross-attention cache."""
        states = real_states("MultiHeadAttention", states, real, self.state_width)
        keys = functional.linear(states, self.W_k, self.b_k)
        values = functional.linear(states, self.W_v, self.b_v)
        return Memory(split_heads(keys, self.heads), split_heads(values, self.heads), real)

    def forward(
        self,
        query: Query,
        memory: Memory,
        position: int = 0,
        *,
        weights: Weights | None = None,
        trace: bool = False,
        causal: bool = False,
    ) -> Attended:
        check_query("MultiHeadAttention", query, memory, self.query_width, (self.heads, len(self.W_q) // self.heads))
        view = self.window(query, memory.real, position)
        view = _causal(view, position) if causal else view
        query_heads = split_heads(functional.linear(query, self.W_q, self.b_q), self.heads)
        scores = scaled_dot_scores(query_heads, memory.keys)
        dropout = self.dropout if self.training else 0.0
        context, weights = attend(scores, memory.values, view.mask, view.gaussian, weights=weights, dropout=dropout)
        context = functional.linear(merge_heads(context), self.W_o, self.b_o)
        kept = Trace(query, scores, view.mask, view.gaussian, view.center, context) if trace else None
        return Attended(context, weights, kept)


def _causal(view: View, position: int) -> View:
    """The view without the positions that lie after each step."""
    target, source = view.mask.shape[-2:]
    past = causal_mask(target, source, position, view.mask.device)
    return View(view.mask & past, view.gaussian, view.center)
