"""Additive attention: Bahdanau, Cho and Bengio 2014."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention.additive.module import BahdanauAttention

__all__ = ["BahdanauAttention"]


def __getattr__(name: str) -> Any:
    """Load the module on first use: `reference.py` next door must import without torch."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.module"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
