"""regard: sequence-to-sequence models that show where they look.

Importing it costs nothing: each name is loaded when it is first used, so the NumPy references need no torch.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.runtime.translation import Translation
    from regard.runtime.translator import Translator, load
    from regard.train.run import train

__version__ = version("regard")

_HOMES = {
    "Translation": "regard.runtime.translation",
    "Translator": "regard.runtime.translator",
    "load": "regard.runtime.translator",
    "train": "regard.train.run",
}

__all__ = ["Translation", "Translator", "__version__", "load", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
