"""Command and environment of Python child processes: the import path of this process without the current folder."""

import os
import sys
from pathlib import Path


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module; -P keeps the current folder off its path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """This process's variables and `more`; PYTHONPATH is the path of this process without the current folder.

    A file in the current folder such as `statistics.py` would shadow Python's own module. A current folder that the
    user put on PYTHONPATH stays. The folder of regard itself is added last.
    """
    here, home = Path.cwd(), Path(__file__).resolve().parents[1]
    chosen = [Path(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    path = [one for one in sys.path if one and (Path(one) != here or here in chosen)]
    path += [] if str(home) in path else [str(home)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **more}
