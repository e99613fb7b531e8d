"""Watches the file operations of this process below a folder: a listener sees each one before it happens.

The listener may raise an OSError, which the caller of the operation then gets, or kill the process. Python's audit
events report open, mkdir, rename, remove and so on; write and fsync, which have none, are patched, as is the function
of safetensors that writes a file without Python. Nothing can be undone: watch in a forked process.
"""

import builtins
import io
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("create", "write", "fsync", "mkdir", "rename", "remove", "rmdir")
"""The kinds of operation that change something; `create` is an open for writing."""


@dataclass(frozen=True)
class Operation:
    """One file operation; `other` is the new name of a rename, `data` is written at `offset`."""

    kind: str
    path: str
    other: str = ""
    offset: int = 0
    data: bytes = b""
    truncates: bool = False


class ShortWrite(Exception):
    """Raised by a listener of a write: half of the data is written, and the next write to that file fails."""

    def __init__(self, error: OSError) -> None:
        self.error = error


Listener = Callable[[Operation], None]


def watch(folder: Path, listener: Listener) -> None:
    """Call `listener` before every file operation below `folder` until this process ends."""
    watched, root = [True], os.path.realpath(folder)

    def notify(operation: Operation) -> None:
        folder, name = os.path.split(operation.path)
        if watched[0] and os.path.join(os.path.realpath(folder), name, "").startswith(os.path.join(root, "")):
            watched[0] = False  # the listener's own operations
            try:
                listener(operation)
            finally:
                watched[0] = True

    sys.addaudithook(lambda event, arguments: _audit(notify, event, arguments))
    _patch_writes(notify)
    _patch_safetensors()


def _audit(notify: Listener, event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        path, flags = _name(arguments[0]), arguments[2]
        kind = "create" if flags & WRITES else "open"
        notify(Operation(kind, path, truncates=bool(flags & os.O_TRUNC)))
    elif event in ("os.mkdir", "os.remove", "os.rmdir"):
        notify(Operation(event[3:], _name(arguments[0], arguments[-1])))
    elif event == "os.rename":
        notify(Operation("rename", _name(arguments[0], arguments[2]), _name(arguments[1], arguments[3])))
    elif event in ("os.listdir", "os.scandir", "os.chmod") and arguments[0] is not None:
        notify(Operation(event[3:], _name(arguments[0])))


def _name(path: Any, folder: int = -1) -> str:
    """The absolute path of a name, which may be relative to an open folder."""
    if isinstance(path, int):
        return os.readlink(f"/proc/self/fd/{path}")
    base = os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder >= 0 else os.getcwd()
    return os.path.join(base, os.fsdecode(path))


def _patch_writes(notify: Listener) -> None:
    class Watched(io.FileIO):
        """A file whose writes the listener sees, under the name that the file has by then."""

        broken: OSError | None = None

        def write(self, data: Any) -> int:
            if self.broken is not None:
                raise self.broken
            data = bytes(data)
            offset = os.fstat(self.fileno()).st_size if "a" in self.mode else self.tell()
            try:
                notify(Operation("write", _name(self.fileno()), offset=offset, data=data))
            except ShortWrite as short:
                self.broken = short.error
                data = data[: max(1, len(data) // 2)]
            return int(super().write(data) or 0)

    plain_open = io.open

    def watched_open(
        file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
        newline: str | None = None, closefd: bool = True, opener: Any = None,
    ) -> Any:  # fmt: skip
        if not set(mode) & set("wax+") or buffering == 0:
            return plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = Watched(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

    plain_fsync = os.fsync

    def watched_fsync(descriptor: Any) -> None:
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        notify(Operation("fsync", _name(number)))
        plain_fsync(number)

    builtins.open = io.open = watched_open  # type: ignore[assignment]
    os.fsync = watched_fsync
    shutil._USE_CP_SENDFILE = False  # type: ignore[attr-defined]  # copies go through write


def _patch_safetensors() -> None:
    """Let Python write what safetensors would write by itself, and report errors as safetensors does."""

    def write(tensors: Any, path: Any, metadata: Any = None) -> None:
        try:
            with open(path, "wb") as file:
                file.write(safetensors.serialize(tensors, metadata=metadata))
        except OSError as error:
            reason = f"Error while serializing: I/O error: {error.strerror} (os error {error.errno})"
            raise SafetensorError(reason) from None

    safetensors.torch.serialize_file = write
