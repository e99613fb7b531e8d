"""Find and end every process that a learner's file started, also those that left its process group."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
MARK = "REGARD_COURSE_RUN"
"""An environment variable that all processes which a grading process starts inherit."""


@contextmanager
def adopting() -> Iterator[set[int]]:
    """While this lasts, orphans of our children become our children (Linux), so that they can be found and reaped.

    Yields the children that this process had before: any further child afterwards was adopted.
    """
    before = _subreaper()
    _set_subreaper(1)
    try:
        yield set(_children(os.getpid()))
    finally:
        if before is not None:
            _set_subreaper(before)


def family_of(pid: int) -> set[int]:
    """A process and its descendants, as /proc lists them; on other systems only itself."""
    found, queue = {pid}, [pid]
    while queue:
        for child in _children(queue.pop()):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def resident_bytes(pids: Iterable[int]) -> int:
    """Memory in use by these processes, without the files that they map; 0 where there is no /proc."""
    pages = 0
    for pid in pids:
        with suppress(OSError):
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
            pages += int(resident) - int(shared)
    return pages * os.sysconf("SC_PAGE_SIZE")


def marked(mark: str) -> set[int]:
    """Processes with the mark of a run in their environment, anywhere in the process tree."""
    wanted = f"{MARK}={mark}".encode()
    found: set[int] = set()
    proc = Path("/proc")
    if not proc.is_dir():
        return found
    for entry in proc.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(int(entry.name))
    return found


def end_all(group: int, mark: str, ours: Collection[int] | None = None, patience: float = 2.0) -> int:
    """Kill the group, everything marked and everything adopted; how many outlived the grading process itself.

    `ours` are the children we had before (`adopting`); without it no process was adopted.
    """
    ended = _left(group, mark, ours)  # counted first: on a quick machine the kill leaves no trace
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        left = _left(group, mark, ours)
        if not left and not _running(group):
            break
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended |= left
        time.sleep(0.01)
    for pid in ended | _adopted(group, ours):  # the zombies among them are ours to reap
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return len(ended)


def _left(group: int, mark: str, ours: Collection[int] | None) -> set[int]:
    """Processes that still run: found by the mark, by descent, or as children that this process adopted."""
    roots = {group, *_adopted(group, ours)}
    relatives = {pid for root in roots for pid in family_of(root) if _running(pid)}
    return (marked(mark) | relatives) - {group}


def _adopted(group: int, ours: Collection[int] | None) -> set[int]:
    return set() if ours is None else set(_children(os.getpid())) - {group, *ours}


def _running(pid: int) -> bool:
    """Whether the process still runs: a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found.extend(int(one) for one in (task / "children").read_text().split())
    return found


def _subreaper() -> int | None:
    if sys.platform != "linux":
        return None
    value = ctypes.c_int(0)
    if ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(value), 0, 0, 0) != 0:
        return None
    return value.value


def _set_subreaper(value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)
