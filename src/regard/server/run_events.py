"""The events of a run as server-sent events: those that are there, then live ones until the run ends."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from regard.bounds import MOST
from regard.reading_files import open_regular, parse_object
from regard.server.run_replay import NAME as REPLAY
from regard.training.journal import NAME as JOURNAL

PAUSE, KEEP_ALIVE = 0.5, 15.0
"""Seconds between two looks at the journal, and between two comments to an idle client."""
MOST_STEPS = 2_000
"""Steps of the past that are sent; of more, evenly spaced ones. All other events are sent."""
CHUNK = 4 << 20


class Tail:
    """Reads the new lines of a growing file, at most `CHUNK` bytes at once; a half-written line waits."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self._number, self._rest = path, 0, 0, b""

    def read(self) -> list[tuple[int, dict[str, Any]]]:
        """(number of the line from 1, its JSON object), other lines left out."""
        try:
            with open_regular(self._path) as file:
                file.seek(self._offset)
                content = file.read(CHUNK)
        except OSError:
            return []
        self._offset += len(content)
        *lines, rest = (self._rest + content).split(b"\n")
        self._rest = rest[: MOST["line"]]
        first, self._number = self._number + 1, self._number + len(lines)
        return [(number, found) for number, line in enumerate(lines, first) if (found := parse_object(line))]


async def stream(
    folder: Path, after: int, alive: Callable[[], bool], stopping: Callable[[], bool]
) -> AsyncIterator[str]:
    """Events of lines beyond `after`; `alive` says whether a process trains there, `stopping` ends it early."""
    journal, snapshots = Tail(folder / JOURNAL), Tail(folder / REPLAY)
    idle, ended, past = 0.0, False, True
    while not stopping():
        was_alive = await asyncio.to_thread(alive)
        entries = [one for one in await asyncio.to_thread(_read_all, journal, past) if one[0] > after]
        past = False
        for number, entry in entries:
            ended = ended or entry.get("event") == "finished"
            yield _event(entry, number)
        for _, entry in await asyncio.to_thread(snapshots.read):
            if "step" in entry:
                yield _event({"event": "snapshot", "step": entry["step"]})
        if not was_alive and (ended or not entries):
            if not ended:
                message = "its process ended before the run was finished: regard train --resume continues it"
                yield _event({"event": "gone", "message": message})
            yield _event({"event": "end"})
            return
        idle = 0.0 if entries else idle + PAUSE
        if idle >= KEEP_ALIVE:
            idle = 0.0
            yield ": nothing new\n\n"
        await asyncio.sleep(PAUSE)


def _read_all(journal: Tail, past: bool) -> list[tuple[int, dict[str, Any]]]:
    """The new events; if a history has many steps, only evenly spaced ones."""
    found: list[tuple[int, dict[str, Any]]] = []
    while part := journal.read():
        found += part
        steps = [number for number, entry in found if entry.get("event") == "step"]
        if past and len(steps) > 2 * MOST_STEPS:
            kept = set(steps[:: len(steps) // MOST_STEPS])
            found = [one for one in found if one[1].get("event") != "step" or one[0] in kept]
    return found


def _event(data: dict[str, Any], number: int | None = None) -> str:
    """Names of events come from a file: a line break in one must not begin another."""
    kind = str(data.get("event"))
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind if kind.isidentifier() else 'unknown'}\ndata: {json.dumps(data)}\n\n"
