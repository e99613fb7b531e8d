"""Conditions that several accelerated implementations share: whether a mechanism is known, whether steps are alike.

The registry checks hooks, REGARD_PLAIN and transforms for every entry.
"""

from torch import nn

from regard.attention.additive.module import BahdanauAttention
from regard.attention.local.module import LocalM, LocalP
from regard.attention.multiplicative.module import LuongConcat, LuongDot, LuongGeneral
from regard.attention.none.module import NoAttention
from regard.attention.scaled_dot.module import MultiHeadAttention, ScaledDotAttention
from regard.attention.window import GlobalWindow
from regard.registry import Refusal

OWN_MECHANISMS = (
    BahdanauAttention,
    LuongDot,
    LuongGeneral,
    LuongConcat,
    ScaledDotAttention,
    MultiHeadAttention,
    NoAttention,
)
"""Mechanisms whose result for one query does not depend on the other queries, and that leave the memory unchanged."""
_WINDOWS = (GlobalWindow, LocalM, LocalP)
"""With these, equal shapes mean equal work."""


def steps_alike(decoder: nn.Module) -> bool:
    """Whether every step launches the same work, whatever its number: a known mechanism, no dropout.

    A window that moves with the steps (local-m) depends on the step's number.
    """
    attention = getattr(decoder, "attention", None)
    fixed_window = type(getattr(attention, "window", None)) in (GlobalWindow, LocalP, type(None))
    return is_known(attention) and fixed_window and not decoder.training


def unlike_torch(recurrence: nn.Module) -> Refusal:
    """Why a hand-written recurrence does not apply: not exactly torch's nn.GRU or nn.LSTM with biases."""
    known = type(recurrence) in (nn.GRU, nn.LSTM) and recurrence.bias
    return None if known else "the recurrence is not torch's own nn.GRU or nn.LSTM with biases"


def is_known(attention: object) -> bool:
    """Whether a captured step may contain this mechanism and its window: neither a subclass nor an unlisted one."""
    window = getattr(attention, "window", None)
    return type(attention) in OWN_MECHANISMS and (window is None or type(window) in _WINDOWS)
