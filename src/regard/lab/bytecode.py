"""Finds truncated .pyc files, which a full disk leaves behind: Python writes them without a check.

Imports only the standard library: the packages to check may be the damaged ones.
"""

import marshal
import os
import shlex
from collections.abc import Iterator
from importlib.metadata import distributions
from importlib.util import cache_from_source
from pathlib import Path

from regard.child import python
from regard.lab.finding import Finding

HEADER = 16  # bytes before the code; with a shorter file Python compiles again by itself
SHOWN = 5


def check_bytecode() -> Finding:
    """Whether Python can load every .pyc file of this environment."""
    damaged = [path for path in compiled_files() if is_damaged(path)]
    if not damaged:
        return Finding("✓", "compiled files (.pyc) are complete")
    left = len(damaged) - SHOWN
    folder = os.path.commonpath([path.parents[1] for path in damaged])
    again = shlex.join([*python("compileall"), "-q", "-f", folder])
    return Finding(
        "✗",
        f"{len(damaged)} compiled file{'s' if len(damaged) > 1 else ''} (.pyc) truncated, for example by a full disk:"
        ' imports fail with "EOFError: marshal data too short"',
        (*(str(path) for path in damaged[:SHOWN]), *([f"and {left} more"] if left > 0 else [])),
        f"free some disk space, then delete them (Python compiles them again), or compile all of them: {again}",
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
    """The .pyc files of regard and of every installed package."""
    sources = {str(path) for path in Path(__file__).parents[1].rglob("*.py")}
    for package in distributions():
        sources |= {str(package.locate_file(file)) for file in package.files or () if file.suffix == ".py"}
    return (Path(cache_from_source(source)) for source in sorted(sources))
