"""regard: sequence-to-sequence models that show where they look.

Example:
    translator = regard.load("runs/demo")
    translation = translator.translate("The black cat sat on the mat.")
    print(translation.text, translation.alignment)

Importing it is fast: each name is loaded when it is first used, so the NumPy references need no torch.
"""

import os
import sys

_module = sys.orig_argv.index("-m") + 1 if "-m" in sys.orig_argv else 0
if sys.argv[:1] == ["-m"] and sys.orig_argv[_module : _module + 1] == ["regard"] and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]  # `python -m regard` put the current folder there, where any file could stand in for a module

from importlib import import_module  # noqa: E402
from importlib.metadata import PackageNotFoundError, version  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from regard import attention, testing
    from regard.plot.view import view
    from regard.runtime.translation import Translation
    from regard.runtime.translator import Translator, load
    from regard.training.run import train

try:
    __version__ = version("regard")
except PackageNotFoundError:  # a checkout on the path, never installed
    __version__ = "0+unknown"

_HOMES = {
    "Translation": "regard.runtime.translation",
    "Translator": "regard.runtime.translator",
    "load": "regard.runtime.translator",
    "train": "regard.training.run",
    "view": "regard.plot.view",
}
_FOLDERS = ("attention", "testing")

__all__ = ["Translation", "Translator", "__version__", "attention", "load", "testing", "train", "view"]


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return import_module(f"regard.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute '{name}'", name=name, obj=sys.modules[__name__])
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
