"""Attention: (query, memory) -> (context, weights). Names load on first use, so the NumPy references need no torch."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention.additive.functional import additive_attention
    from regard.attention.additive.module import BahdanauAttention
    from regard.attention.build import SCORES, WINDOWS, build_attention
    from regard.attention.local.module import LocalM, LocalP
    from regard.attention.masking import causal_mask, lengths_to_mask, masked_softmax
    from regard.attention.multiplicative.module import LuongConcat, LuongDot, LuongGeneral
    from regard.attention.none.module import NoAttention
    from regard.attention.protocol import Attended, Attention, Memory, Trace, View, Window
    from regard.attention.scaled_dot.module import MultiHeadAttention, ScaledDotAttention
    from regard.attention.window import GlobalWindow

__all__ = [
    "SCORES",
    "WINDOWS",
    "Attended",
    "Attention",
    "BahdanauAttention",
    "GlobalWindow",
    "LocalM",
    "LocalP",
    "LuongConcat",
    "LuongDot",
    "LuongGeneral",
    "Memory",
    "MultiHeadAttention",
    "NoAttention",
    "ScaledDotAttention",
    "Trace",
    "View",
    "Window",
    "additive_attention",
    "build_attention",
    "causal_mask",
    "lengths_to_mask",
    "masked_softmax",
]

_HOME = {
    "additive.module": ("BahdanauAttention",),
    "additive.functional": ("additive_attention",),
    "build": ("SCORES", "WINDOWS", "build_attention"),
    "local.module": ("LocalM", "LocalP"),
    "masking": ("causal_mask", "lengths_to_mask", "masked_softmax"),
    "multiplicative.module": ("LuongConcat", "LuongDot", "LuongGeneral"),
    "none.module": ("NoAttention",),
    "protocol": ("Attended", "Attention", "Memory", "Trace", "View", "Window"),
    "scaled_dot.module": ("MultiHeadAttention", "ScaledDotAttention"),
    "window": ("GlobalWindow",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
