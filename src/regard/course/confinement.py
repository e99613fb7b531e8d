"""Restricts a learner's process: limits, no access to other processes or the answers, no writing outside its folder."""

import ctypes
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
MOST_FILE_BYTES = 2**30
MOST_MEMORY_BYTES = {"numpy": 8 * 2**30}
"""Of address space; torch alone reserves more than it uses, so torch exercises have no such limit."""

LANDLOCK_CREATE, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT = 444, 445, 446
WRITING = 0b1111111110010
"""WRITE_FILE and the rights to remove and make entries of every kind."""
WRITE_FILE, READ_FILE, REFER, TRUNCATE = 1 << 1, 1 << 2, 1 << 13, 1 << 14
DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom", "tty"))
"""Devices that a file may write to besides its folders; not the rest of /dev, where /dev/shm keeps files."""
SCOPE_SIGNALS = 2
HIDDEN = ("check", "solution", "alternatives", "mistakes", "slips")
"""Files of an exercise that a learner's file may not read or import."""
KEPT_CAPABILITIES = 0b1111
"""CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER: a teacher who is root may grade folders of others."""


def limit(needs: str) -> None:
    """No core files, no endless files, not all of the memory; die with the grader (Linux)."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, MOST_FILE_BYTES)
    if needs in MOST_MEMORY_BYTES:
        _lower(resource.RLIMIT_AS, MOST_MEMORY_BYTES[needs])


def die_with_parent() -> None:
    if sys.platform == "linux":
        _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hide_memory() -> None:
    """Other processes of the same user cannot read or write this one's memory (Linux)."""
    if sys.platform == "linux":
        _libc().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def confine(folder: Path, exercises: Path) -> None:
    """Restrict this process: it may write to `folder` and its temporary folder only, and signal or inspect no other.

    The answers in `exercises` cannot be read, by whatever path, nor by programs that this process starts.
    Uses Landlock (Linux 5.13 or newer; signals from 6.12). A no-op on other systems.
    """
    if sys.platform != "linux":
        return
    _libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _drop_capabilities()
    homes = [folder, Path(tempfile.gettempdir()), *_caches()]
    _landlock([place for place in (*homes, *DEVICES) if place.exists()], _all_but_answers(exercises.resolve()))


def is_answer(path: Path) -> bool:
    """Whether a file of an exercise's folder, or its compiled form, holds an answer."""
    return path.name.partition(".")[0] in HIDDEN


def _all_but_answers(exercises: Path) -> Iterator[Path]:
    """Landlock can only allow: every folder and file beside the way to `exercises`, and what is no answer in there.

    Symbolic links are left out, since they may lead to an answer; what they lead to is allowed by its own name.
    """
    way = [exercises, *exercises.parents]
    for folder in exercises.parents:
        with suppress(OSError):
            yield from (path for path in folder.iterdir() if path not in way and not path.is_symlink())
    for path in exercises.rglob("*"):
        if not is_answer(path) and path.is_file() and not path.is_symlink():
            yield path


def _caches() -> Iterable[Path]:
    """The cache folders of matplotlib and torch."""
    for variable, usual in (("XDG_CACHE_HOME", "~/.cache"), ("XDG_CONFIG_HOME", "~/.config"), ("MPLCONFIGDIR", "")):
        place = os.environ.get(variable) or os.path.expanduser(usual)
        if place:
            yield Path(place) / "matplotlib" if variable != "MPLCONFIGDIR" else Path(place)


def _landlock(writable: Iterable[Path], readable: Iterable[Path]) -> None:
    libc = _libc()
    version = libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return
    handled = WRITING | READ_FILE | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    rules = (ctypes.c_uint64 * 3)(handled, 0, SCOPE_SIGNALS if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(LANDLOCK_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return
    for place, rights in (*((one, handled) for one in writable), *((one, READ_FILE) for one in readable)):
        if not place.is_dir():  # rights about the entries of a folder are refused for a file
            rights &= WRITE_FILE | READ_FILE | TRUNCATE
        with suppress(OSError):  # gone since it was listed
            opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
            rule = rights.to_bytes(8, "little") + opened.to_bytes(4, "little")  # packed, as the kernel wants it
            libc.syscall(LANDLOCK_ADD_RULE, ruleset, 1, ctypes.c_char_p(rule), 0)
            os.close(opened)
    libc.syscall(LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Drop the capabilities of a process that runs as root; other users have none."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)(KEPT_CAPABILITIES, KEPT_CAPABILITIES, 0, 0, 0, 0)
    if os.geteuid() == 0:
        _libc().capset(ctypes.byref(header), ctypes.byref(sets))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
