"""One learner at work: which exercise is current, grading it, hints, solutions; what watch mode and the verbs share."""

from collections.abc import Callable
from pathlib import Path

from regard.course.catalogue import TIERS, ExerciseEntry, entries
from regard.course.course_folder import CourseFolder, open_folder, reset
from regard.course.last_report import keep_report
from regard.course.learner_progress import LearnerProgress, load_progress
from regard.course.process import Grader
from regard.course.verdict import Verdict
from regard.course.waiting import Waiting, ignore_progress
from regard.text.input_error import InputError


class Session:
    """The course folder, the progress in it, and a grading process that is loading while the learner types."""

    def __init__(self, folder: Path | None) -> None:
        self.folder: CourseFolder = open_folder(folder)
        self.progress: LearnerProgress = load_progress(self.folder.path)
        self.spare: Grader | None = None
        if self.current.name in self.progress.passed:
            self.progress.current = (self.next() or self.current).name
        self.progress.current = self.current.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the learner, for instance about a folder that cannot be written."""
        return (*self.folder.notes, *self.progress.notes)

    @property
    def current(self) -> ExerciseEntry:
        return self.progress.current_entry()

    @property
    def passed_last(self) -> ExerciseEntry:
        """The exercise that passed last; the current one if none has."""
        passed = [entry for entry in entries() if entry.name in self.progress.passed]
        return max(passed, key=lambda entry: self.progress.passed[entry.name], default=self.current)

    def choose(self, entry: ExerciseEntry) -> None:
        self.progress.current = entry.name
        self.progress.save()

    def next(self) -> ExerciseEntry | None:
        """The next exercise that has not passed, after the current one and then from the start."""
        place = entries().index(self.current) + 1
        order = [*entries()[place:], *entries()[:place]]
        return next((entry for entry in order if entry.name not in self.progress.passed), None)

    def prepare(self) -> None:
        """Start a grading process for the current exercise, so that it has loaded by the time of the next save."""
        if self.spare is not None and self.spare.entry != self.current:
            self.close()
        if self.spare is None:
            self.spare = Grader(self.current)

    def grade(
        self,
        entry: ExerciseEntry | None = None,
        interrupted: Callable[[], bool] = lambda: False,
        waiting: Waiting = ignore_progress,
    ) -> Verdict:
        """Grade an exercise of the folder (the current one) and record it."""
        entry = entry or self.current
        path = self.folder.file(entry)
        if self.spare is not None and (self.spare.entry != entry or not self.spare.alive):
            self.close()
        grader, self.spare = self.spare or Grader(entry), None
        with grader:
            verdict = grader.grade(path, interrupted, waiting)
        if not verdict.half and not interrupted():
            self.progress.record(entry, verdict)
            self.progress.save()
            keep_report(self.folder.path, entry, verdict)
        return verdict

    def hint(self, entry: ExerciseEntry, tier: int | None = None) -> str:
        """A tier of the hint (1 to 3), or the one that fits the last verdict, or the next one that was not seen yet."""
        seen = self.progress.hints.get(entry.name, 0)
        fits = max(self.progress.advised.get(entry.name, 1), seen + 1)
        wanted = min(fits, len(TIERS)) if tier is None else tier
        if not 1 <= wanted <= len(TIERS):
            raise InputError(
                f"there is no hint {wanted}: the tiers are 1 (nudge), 2 (concept) and 3 (shape of the code)"
            )
        self.progress.hints[entry.name] = max(seen, wanted)
        self.progress.save()
        title = f"Hint {wanted} of {len(TIERS)} for exercise {entry.number}: {TIERS[wanted - 1]}"
        return f"{title}\n\n{entry.hints[wanted - 1]}"

    def solution(self, entry: ExerciseEntry) -> str:
        """Ours, once theirs has passed."""
        if entry.name not in self.progress.passed:
            raise InputError(
                f"the solution of exercise {entry.number} is shown once yours passes; "
                f"hint 3 (`regard learn hint {entry.number} 3`) is nearly the code"
            )
        return entry.solution

    def answers(self, entry: ExerciseEntry) -> str:
        """What "Try this" was about, once theirs has passed."""
        if entry.name not in self.progress.passed:
            raise InputError(f"the answers to Try this of exercise {entry.number} are shown once your code passes")
        return f"Try this, exercise {entry.number}\n\n{entry.answers}"

    def reset(self, entry: ExerciseEntry) -> str:
        """The starter again; a sentence about what happened to the old file."""
        kept = reset(self.folder, entry)
        done = f"{self.folder.file(entry)} is the starter again"
        return f"{done}; your version is kept as {kept.name}" if kept else done

    def close(self) -> None:
        if self.spare is not None:
            self.spare.close()
            self.spare = None
