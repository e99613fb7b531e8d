"""Multiplicative attention: the dot, general and concat scores of Luong, Pham and Manning 2015."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention.multiplicative.module import LuongConcat, LuongDot, LuongGeneral

__all__ = ["LuongConcat", "LuongDot", "LuongGeneral"]


def __getattr__(name: str) -> Any:
    """Load the module on first use: `reference.py` next door must import without torch."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.module"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
