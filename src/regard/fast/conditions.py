"""Conditions that several accelerated implementations share: whether a mechanism is ours, whether steps are alike.

The registry checks hooks, REGARD_PLAIN and transforms for every entry.
"""

from torch import nn

from regard.attention.local.module import LocalP
from regard.attention.window import GlobalWindow
from regard.registry import Refusal


def steps_alike(decoder: nn.Module) -> bool:
    """Whether every step launches the same work, whatever its number: attention of ours, no dropout.

    A window that moves with the steps (local-m) depends on the step's number.
    """
    attention = getattr(decoder, "attention", None)
    fixed_window = type(getattr(attention, "window", None)) in (GlobalWindow, LocalP, type(None))
    return ours(attention) and fixed_window and not decoder.training


def unlike_torch(recurrence: nn.Module) -> Refusal:
    """Why a hand-written recurrence does not apply: not exactly torch's nn.GRU or nn.LSTM with biases."""
    known = type(recurrence) in (nn.GRU, nn.LSTM) and recurrence.bias
    return None if known else "the recurrence is not torch's own nn.GRU or nn.LSTM with biases"


def ours(attention: object) -> bool:
    """Whether a mechanism and its window belong to this package, so that equal shapes mean equal work."""
    window = getattr(attention, "window", None)
    parts = (attention,) if window is None else (attention, window)
    return all(type(part).__module__.startswith("regard.") for part in parts)
