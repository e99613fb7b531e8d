"""Turns an exception into one line and an exit code: 1 if the machine failed, 2 if the command was wrong."""

import errno
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from regard.text.input_error import FailedElsewhere, InputError

MISNAMED = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ESPIPE)
"""System errors that mean a wrong path; the others (disk full, read-only, no permission) are failures."""


def describe_failure(error: Exception, verb: str = "") -> tuple[str, int]:
    """The line to print and the exit code."""
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # an error of the command-line parser
        message = str(error.format_message()).rstrip(".")
        return f"{message}; see: regard {verb} --help", 2
    if isinstance(error, FailedElsewhere):
        return "", 2
    if isinstance(error, InputError):
        return str(error), 1 if _disk_failed(error) else 2
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}", 1
    if damaged := _damaged_bytecode(error):
        return (
            f"{damaged} is truncated, for example by a full disk: free some space and delete it (Python rewrites it);"
            " `regard doctor` finds others",
            1,
        )
    if isinstance(error, MemoryError) or _out_of_memory(error):
        return "out of memory: translate fewer or shorter lines at once, or use a smaller batch", 1
    if type(error).__module__.startswith("regard.") or type(error) is ValueError:
        return str(error), 1
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("regard"):
        package = error.name.partition(".")[0]
        return f"the package '{package}' is missing: pip install regard installs everything that it needs", 1
    first = str(error).strip().splitlines()[0] if str(error).strip() else "no reason given"
    return f"unexpected {type(error).__name__}: {first} (REGARD_DEBUG=1 shows where)", 1


def _damaged_bytecode(error: Exception) -> str:
    """The .pyc file that Python could not load: its path is in the import system's frame, not in the error."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or place.tb_frame.f_code.co_name != "_compile_bytecode":
        return ""
    return str(place.tb_frame.f_locals.get("bytecode_path") or "")


def silence(stream: TextIO) -> None:
    """Redirect a stream to /dev/null: its reader or terminal is gone."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class SurvivingStream:
    """A stream that survives a closed terminal or pipe, so that a run can continue and save."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            silence(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _out_of_memory(error: Exception) -> bool:
    """Whether torch ran out of memory; False if torch is not imported."""
    if "torch" not in sys.modules:
        return False
    from regard.torch_private import is_out_of_memory

    return is_out_of_memory(error)


def _disk_failed(error: Exception) -> bool:
    """Whether the system refused to write, rather than the user naming a wrong path."""
    cause = error.__cause__
    if isinstance(cause, OSError):
        return cause.errno not in MISNAMED
    raised_by = sys.modules.get("regard.bundle.bundle_folder")  # not imported here: it would load safetensors
    return raised_by is not None and isinstance(error, raised_by.CannotWrite)
