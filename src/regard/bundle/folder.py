"""Folders that appear whole or not at all, whatever happens while they are written."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.text.errors import InputError


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside `target` that takes its place when the block ends well.

    A kill at any moment leaves the old folder, the new one, or (for an instant between two renames) the old one
    under the name `<target>.old`, which `recover` puts back.
    """
    draft: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        yield draft
        _flush(draft)
        _swap(draft, target)
    except OSError as error:
        raise explain(error, target) from error
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def recover(target: Path) -> None:
    """Undo a swap that was cut short."""
    old = target.with_name(target.name + ".old")
    if old.exists() and not target.exists():
        old.rename(target)


def write_whole(path: Path, text: str) -> None:
    """A file that is replaced in one move."""
    draft = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise explain(error, path) from error


def explain(error: OSError, path: Path) -> InputError:
    """One clear line for a disk that will not take what we write."""
    reasons = {
        errno.ENOSPC: "the disk is full: free some space, or name another folder",
        errno.EDQUOT: "the disk quota is used up: free some space, or name another folder",
        errno.EROFS: "the disk is read-only: name a folder on another one",
        errno.EACCES: "permission denied: name a folder you may write to",
        errno.EPERM: "not permitted: name a folder you may write to",
        errno.ENOTDIR: "a part of this path is a file, not a folder",
        errno.EEXIST: "a part of this path is a file, not a folder",
    }
    reason = reasons.get(error.errno or 0, error.strerror or str(error))
    return InputError(f"cannot write {path}: {reason}")


def _flush(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EBADF):  # folders cannot be synced everywhere
                raise
        finally:
            os.close(descriptor)


def _swap(draft: Path, target: Path) -> None:
    draft.chmod(0o755)  # mkdtemp makes folders private
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)
