"""regard: sequence-to-sequence models that show where they look.

Example:
    translator = regard.load("runs/demo")
    translation = translator.translate("The black cat sat on the mat.")
    print(translation.text, translation.alignment)

Importing it is fast: each name is loaded when it is first used, so the NumPy references need no torch. This file
imports only what Python has loaded before it, because `__main__.py` removes the current folder from the path after it.
"""

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing
if TYPE_CHECKING:
    from regard import attention, testing
    from regard.plot.view import view
    from regard.runtime.translation import Translation
    from regard.runtime.translator import Translator, load
    from regard.training.run import train

    __version__: str

_HOMES = {
    "Translation": "regard.runtime.translation",
    "Translator": "regard.runtime.translator",
    "load": "regard.runtime.translator",
    "train": "regard.training.run",
    "view": "regard.plot.view",
}
_FOLDERS = ("attention", "testing")

__all__ = ["Translation", "Translator", "__version__", "attention", "load", "testing", "train", "view"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if name in _FOLDERS:
        return import_module(f"regard.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute '{name}'", name=name, obj=sys.modules[__name__])
    return getattr(import_module(_HOMES[name]), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("regard")
    except PackageNotFoundError:  # a checkout on the path, never installed
        return "0+unknown"


def __dir__() -> list[str]:
    return __all__
