"""A learner's progress: a small JSON file, written atomically."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.course_folder import spare_place
from regard.course.verdict import Verdict
from regard.files import locked, write_whole
from regard.reading_files import parse_json, read_regular
from regard.text.input_error import InputError

NAME = ".progress.json"
VERSION = 1
DAMAGED = (ValueError, TypeError, KeyError, AttributeError)
"""The exceptions that a damaged file raises."""


@dataclass
class LearnerProgress:
    """Read it with `load_progress`; `save` after each change."""

    place: Path
    current: str = ""
    passed: dict[str, str] = field(default_factory=dict)
    """Exercise name to the moment it first passed."""
    attempts: dict[str, int] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    """How many tiers of its hint were seen."""
    advised: dict[str, int] = field(default_factory=dict)
    """Which tier of its hint fits the last verdict."""
    notes: tuple[str, ...] = ()
    _stored: str = ""
    """The file's text when it was last read or written: another session may have changed it since."""

    def record(self, entry: ExerciseEntry, verdict: Verdict) -> None:
        """Count an attempt (an untouched starter is none); note the first success."""
        if verdict.status in ("unfinished", "missing"):
            return
        self.attempts[entry.name] = self.attempts.get(entry.name, 0) + 1
        self.advised[entry.name] = tier_for(verdict)
        if verdict.passed:
            self.passed.setdefault(entry.name, datetime.now(UTC).isoformat(timespec="seconds"))

    def current_entry(self) -> ExerciseEntry:
        """The exercise that the learner worked on last, else the first that has not passed."""
        for entry in entries():
            if entry.name == self.current:
                return entry
        return next((entry for entry in entries() if entry.name not in self.passed), entries()[-1])

    def save(self) -> None:
        """Atomically. If the folder cannot be written, the file goes to a temporary place, and a note reports it.

        Another session in the same folder loses nothing: what it stored since is merged. If no place can be written,
        the session continues, but its progress is lost when it ends.
        """
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.place.with_name(f"{NAME}.lock")):
                self._merge()
                write_whole(self.place, self._text())
                self._stored = self._text()
        except OSError as error:
            self._save_elsewhere(error)

    def _merge(self) -> None:
        """Add what another session did in this folder since this one last read or wrote the file."""
        try:
            text = read_regular(self.place).decode()
            if text == self._stored:
                return
            theirs = _parsed(text, self.place)
            before = _parsed(self._stored, self.place) if self._stored else LearnerProgress(self.place)
        except (OSError, *DAMAGED):
            return  # gone or damaged meanwhile: this session's progress replaces it
        for name, when in theirs.passed.items():
            self.passed[name] = min(when, self.passed.get(name, when))
        for name, count in theirs.attempts.items():
            self.attempts[name] = count + self.attempts.get(name, 0) - before.attempts.get(name, 0)
        for name, count in theirs.hints.items():
            self.hints[name] = max(count, self.hints.get(name, 0))
        note = "another `regard learn` works in this folder: its progress and yours are both kept."
        self.notes = self.notes if note in self.notes else (*self.notes, note)

    def _save_elsewhere(self, error: OSError) -> None:
        folder = self.place.parent
        try:
            elsewhere = _elsewhere(folder, make=True)
            write_whole(elsewhere, self._text())
        except (OSError, InputError):
            note = (
                f"your progress cannot be kept: {folder} cannot be written ({error.strerror}), nor can {gettempdir()}."
            )
            self.notes = self.notes if note in self.notes else (*self.notes, note)
            return
        self.place = elsewhere
        reason = f"{folder} cannot be written ({error.strerror})"
        self.notes = (*self.notes, f"{reason}, so your progress is kept in {elsewhere}.")

    def _text(self) -> str:
        state = {key: value for key, value in asdict(self).items() if key not in ("place", "notes", "_stored")}
        return json.dumps({"version": VERSION, **state}, indent=1) + "\n"


def tier_for(verdict: Verdict) -> int:
    """The hint that fits: the concept where the values are wrong, the shape of the code where it does not run."""
    return 3 if verdict.kind in ("error", "type", "shape", "dtype") or verdict.status == "broken" else 2


def load_progress(folder: Path) -> LearnerProgress:
    """The state of a course folder; a damaged file is set aside and reported."""
    place = folder / NAME
    elsewhere = _elsewhere(folder)
    if elsewhere.is_file() and (not place.is_file() or elsewhere.stat().st_mtime > place.stat().st_mtime):
        place = elsewhere
    if not place.is_file():
        return LearnerProgress(place)
    try:
        progress = _parsed(read_regular(place).decode(), place)
    except DAMAGED:
        aside = place.with_name(place.name + ".damaged")
        with suppress(OSError):
            place.replace(aside)
        return LearnerProgress(
            place, notes=(f"{place} was damaged, so progress starts anew (the old file: {aside.name}).",)
        )
    if place == elsewhere:
        progress.notes = (f"your progress is kept in {elsewhere}: {folder} could not be written.",)
    return progress


def _parsed(text: str, place: Path) -> LearnerProgress:
    """The progress in the text of a file; raises one of DAMAGED where it is none."""
    state = parse_json(text)
    if state.pop("version") != VERSION:
        raise ValueError("another version")
    known = {key: state.pop(key) for key in ("current", "passed", "attempts", "hints", "advised") if key in state}
    if state:
        raise ValueError("unknown keys")
    return LearnerProgress(place, **_checked(known), _stored=text)


def _checked(known: dict[str, Any]) -> dict[str, Any]:
    """A file that was edited by hand may be JSON and still no progress."""
    counts = [count for key in ("attempts", "hints", "advised") for count in known.get(key, {}).values()]
    times = list(known.get("passed", {}).values())
    if not isinstance(known.get("current", ""), str) or not all(isinstance(when, str) for when in times):
        raise TypeError("wanted a name and times")
    if not all(isinstance(count, int) for count in counts):
        raise TypeError("wanted numbers")
    return known


def _elsewhere(folder: Path, make: bool = False) -> Path:
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return spare_place(make) / f"progress-{name}.json"
