"""Local windows, for any score: local-m and local-p of Luong, Pham and Manning 2015."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention.local.module import LocalM, LocalP

__all__ = ["LocalM", "LocalP"]


def __getattr__(name: str) -> Any:
    """Load the module on first use: `reference.py` next door must import without torch."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.module"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
