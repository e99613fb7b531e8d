"""The course as the page shows it: every exercise, and how far the learner is."""

from pathlib import Path

from regard.course.catalogue import entries
from regard.course.course_folder import DEFAULT
from regard.course.learner_progress import NAME, Progress, load_progress
from regard.server.schema.others import CourseAnswer, Exercise


def course_answer(folder: Path | None = DEFAULT) -> CourseAnswer:
    """Progress in `folder`, if a course is there; nothing is created."""
    started = folder is not None and folder.is_dir()
    progress = load_progress(folder) if folder is not None and started else Progress(Path(NAME))
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
