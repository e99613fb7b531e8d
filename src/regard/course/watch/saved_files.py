"""Detects saved files by polling, which works on every file system, also over a network."""

import time
from pathlib import Path

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.course_folder import CourseFolder

Signature = tuple[int, int, int] | None
SETTLE_SECONDS = 0.04
"""An editor may empty a file before it writes it: a save is complete when two polls find the same state."""


class Files:
    """The exercises of a folder and the last seen state of each file."""

    def __init__(self, folder: CourseFolder) -> None:
        self.folder = folder
        self.seen = {entry: signature(folder.file(entry)) for entry in entries()}

    def changed(self) -> ExerciseEntry | None:
        """An exercise that was saved since the last call, once its file no longer changes."""
        for entry, before in self.seen.items():
            now = signature(self.folder.file(entry))
            if now != before:
                self.seen[entry] = _settled(self.folder.file(entry), now)
                return entry
        return None

    def look(self, entry: ExerciseEntry) -> Signature:
        """The present state of the file."""
        return signature(self.folder.file(entry))

    def forget(self, entry: ExerciseEntry) -> None:
        """Treat the file's present state as seen: the course itself wrote it."""
        self.seen[entry] = signature(self.folder.file(entry))


def signature(path: Path) -> Signature:
    """A value that changes when a file is saved; None while there is no file (some editors rename)."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _settled(path: Path, now: Signature) -> Signature:
    for _ in range(25):
        time.sleep(SETTLE_SECONDS)
        before, now = now, signature(path)
        if now == before and now is not None:
            break
    return now
