"""The course as the page shows it: every exercise, the learner's progress and the last reports."""

import json
from pathlib import Path

from pydantic import ValidationError

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.course_folder import DEFAULT
from regard.course.last_report import read_report
from regard.course.learner_progress import NAME, LearnerProgress, load_progress
from regard.server.schema.others import CourseAnswer, Exercise, Report


def course_answer(folder: Path | None = DEFAULT) -> CourseAnswer:
    """Progress in `folder`, if a course is there; nothing is created."""
    started = folder is not None and folder.is_dir()
    progress = load_progress(folder) if folder is not None and started else LearnerProgress(Path(NAME))
    exercises = [
        Exercise(
            number=entry.number,
            name=entry.name,
            title=entry.title,
            needs=entry.needs,
            points=entry.points,
            passed=progress.passed.get(entry.name),
            attempts=progress.attempts.get(entry.name, 0),
            hints_seen=progress.hints.get(entry.name, 0),
            readme=entry.readme,
            report=_report(folder, entry) if folder is not None and started else None,
        )
        for entry in entries()
    ]
    return CourseAnswer(
        started=started,
        current=progress.current_entry().name,
        points=sum(one.points for one in exercises if one.passed is not None),
        of=sum(one.points for one in exercises),
        exercises=exercises,
    )


def _report(folder: Path, entry: ExerciseEntry) -> Report | None:
    """A report that was edited or damaged is left out; lone surrogates, which no answer can carry, become "?"."""
    found = read_report(folder, entry)
    try:
        return Report.model_validate_json(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except ValidationError:
        return None
