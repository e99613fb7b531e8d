"""Notice saves by looking at the files now and then: works on every file system, over every network."""

import time
from pathlib import Path

from regard.course.catalogue import Entry, entries
from regard.course.course_folder import CourseFolder

Signature = tuple[int, int, int] | None
SETTLE_SECONDS = 0.04
"""An editor may empty a file and then write it: a save is over when the file has looked the same twice."""


class Files:
    """The exercises of a folder and how each looked last time."""

    def __init__(self, folder: CourseFolder) -> None:
        self.folder = folder
        self.seen = {entry: signature(folder.file(entry)) for entry in entries()}

    def changed(self) -> Entry | None:
        """An exercise that was saved since the last call, once its file has come to rest."""
        for entry, before in self.seen.items():
            now = signature(self.folder.file(entry))
            if now != before:
                self.seen[entry] = _settled(self.folder.file(entry), now)
                return entry
        return None

    def look(self, entry: Entry) -> Signature:
        """How the file looks now."""
        return signature(self.folder.file(entry))

    def forget(self, entry: Entry) -> None:
        """Take the file as it is for seen: we changed it ourselves."""
        self.seen[entry] = signature(self.folder.file(entry))


def signature(path: Path) -> Signature:
    """What changes when a file is saved; None while there is no file (some editors rename)."""
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
