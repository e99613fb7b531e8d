"""The last report of each exercise, kept in the course folder for the studio's page."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.course.catalogue import ExerciseEntry
from regard.course.verdict import Verdict
from regard.files import write_whole
from regard.reading_files import read_json

FOLDER = ".reports"


def keep_report(folder: Path, entry: ExerciseEntry, verdict: Verdict) -> None:
    """A course folder that cannot be written has no reports: grading goes on without them."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        content = json.dumps({"when": when, **verdict.json()})
        write_whole(folder / FOLDER / f"{entry.name}.json", content, parents=True)


def read_report(folder: Path, entry: ExerciseEntry) -> dict[str, Any] | None:
    """As `keep_report` wrote it; None if there is none, or the file is damaged."""
    try:
        found = read_json(folder / FOLDER / f"{entry.name}.json")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
