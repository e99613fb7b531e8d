"""Compiled files (.pyc) of regard and the packages it needs that are cut short: Python does not notice a full disk.

Imports nothing but the standard library: the packages to be checked may be the damaged ones.
"""

import marshal
import os
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path

from regard.child import python
from regard.lab.finding import Finding

HEADER = 16  # bytes before the code; Python itself compiles anew where even these are not whole
SHOWN = 5


def check_bytecode() -> Finding:
    """Whether everything that was compiled for this environment can be loaded, and what to do if not."""
    damaged = [path for path in compiled_files() if is_damaged(path)]
    if not damaged:
        return Finding("✓", "compiled files (.pyc) are whole")
    left = len(damaged) - SHOWN
    folder = os.path.commonpath([path.parents[1] for path in damaged])
    again = shlex.join([*python("compileall"), "-q", "-f", folder])
    return Finding(
        "✗",
        f"{len(damaged)} compiled file{'s' if len(damaged) > 1 else ''} (.pyc) cut short, as by a full disk:"
        ' imports fail with "EOFError: marshal data too short"',
        (*(str(path) for path in damaged[:SHOWN]), *([f"and {left} more"] if left > 0 else [])),
        f"free some disk space, then delete them (Python writes them anew), or compile all of them: {again}",
    )


def is_damaged(path: Path) -> bool:
    """Whether Python would try to load this compiled file and fail."""
    try:
        data = path.read_bytes()
        if len(data) >= HEADER:
            marshal.loads(memoryview(data)[HEADER:])
    except OSError:  # never compiled, or not for us to read
        return False
    except (EOFError, ValueError, TypeError):
        return True
    return False


def compiled_files() -> Iterator[Path]:
    """Where Python keeps what it compiled of regard and of every installed package that regard needs."""
    own = Path(__file__).parents[1]
    sources = {*map(str, own.rglob("*.py"))}
    for name in _needed("regard"):
        found = distribution(name)
        sources |= {str(found.locate_file(file)) for file in found.files or () if file.suffix == ".py"}
    return (Path(cache_from_source(source)) for source in sorted(sources))


def _needed(name: str) -> set[str]:
    """A package and whatever it requires, directly or not, extras left out; what is not installed is passed over."""
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        package = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if package in needed:
            continue
        try:
            requirements = distribution(package).requires or []
        except PackageNotFoundError:
            continue
        needed.add(package)
        waiting += [re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in requirements if "extra ==" not in one]
    return needed
