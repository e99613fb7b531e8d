"""Downloads one file over HTTP, resuming an earlier attempt."""

import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.bounds import cut
from regard.text.input_error import InputError

ATTEMPTS = 3
"""Attempts before a broken connection is reported."""
TIMEOUT = 30.0
_BLOCK = 1 << 16
BytesDone = Callable[[int, int | None], None]
"""Called with the number of bytes received, and their total where it is known."""


class _TooLarge(Exception):
    """The file is larger than expected."""


class _Broken(Exception):
    """The connection ended early; the bytes received so far are kept."""


def download(address: str, part: Path, progress: BytesDone, most: int, fresh: bool = False) -> bool:
    """Download at most `most` bytes into the file `part`; returns whether an earlier part was resumed."""
    before = part.stat().st_size if part.exists() else 0
    if fresh or before > most:
        part.unlink(missing_ok=True)
        before = 0
    problem: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            _fetch(address, part, progress, most)
            return before > 0
        except _Broken as error:
            problem = error
        except _TooLarge:
            part.unlink(missing_ok=True)
            raise InputError(
                f"{address} is larger than in the catalogue (more than {most:,} bytes): it was changed on the server "
                "or in transit; nothing of it is kept; try again later, or take a local copy with --from"
            ) from None
    kept = part.stat().st_size if part.exists() else 0
    raise InputError(
        f"the download of {address} failed {ATTEMPTS} times ({problem}); {kept:,} bytes are kept: "
        "run the same command again to resume"
    )


def _fetch(address: str, part: Path, progress: BytesDone, most: int) -> None:
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"User-Agent": "regard", "Accept-Encoding": "identity"})
    if done:
        request.add_header("Range", f"bytes={done}-")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            if answer.status != http.HTTPStatus.PARTIAL_CONTENT:  # the server sends it from the beginning
                done = 0
            _receive(answer, part, done, progress, most)
    except urllib.error.HTTPError as error:
        with error:
            _refused(error, address, part, done)
    except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise _Broken(str(error) or type(error).__name__) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionResetError | TimeoutError):
            raise _Broken(str(error.reason)) from None
        raise InputError(
            f"{address} cannot be reached ({error.reason}): is there a network? A local copy works with --from"
        ) from None


def _refused(error: urllib.error.HTTPError, address: str, part: Path, done: int) -> None:
    """Handle an error status; an unsatisfiable range that begins at the end means that the file is complete."""
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and done:
        if (error.headers.get("Content-Range") or "").endswith(f"/{done}"):
            return
        part.unlink()
        raise _Broken("the local part is longer than the file") from None
    if error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        raise _Broken(f"the server answered {error.code} {cut(str(error.reason))}") from None
    raise InputError(
        f"{address} cannot be downloaded: the server answered {error.code} {cut(str(error.reason))}; "
        "take a local copy with --from"
    ) from None


def _open_itself(name: str, flags: int) -> int:
    """Open a file without following a symbolic link."""
    return os.open(name, flags | os.O_NOFOLLOW, 0o666)


def _receive(answer: Any, part: Path, done: int, progress: BytesDone, most: int) -> None:
    length = answer.headers.get("Content-Length") or ""
    total = done + int(length) if re.fullmatch("[0-9]{1,18}", length) else None
    if total is not None and total > most:
        raise _TooLarge
    with open(part, "ab" if done else "wb", opener=_open_itself) as file:
        progress(done, total)
        while block := answer.read(_BLOCK):
            done += len(block)
            if done > most:
                raise _TooLarge
            file.write(block)
            progress(done, total)
    if total is not None and done < total:
        raise _Broken(f"received {done:,} of {total:,} bytes")
