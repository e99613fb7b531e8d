"""Which named mistake a wrong answer is: the one whose answers are the learner's on every input."""

from dataclasses import dataclass

from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Exercise, Family, Mistake
from regard.course.outcome import Outcome, difference, run, same


@dataclass(frozen=True)
class Trial:
    """One input, and what the learner and the reference made of it."""

    family: Family
    arguments: Arguments
    yours: Outcome
    wanted: Outcome

    @property
    def wrong(self) -> bool:
        return difference(self.yours, self.wanted, self.family.tolerance) is not None


def diagnose(exercise: Exercise, attempt: Attempt, trials: list[Trial]) -> Mistake | None:
    """The first declared mistake that behaves like the attempt.

    It must agree on every input, and on one where the attempt is wrong it must agree in values: two programs that
    merely both raise may raise for different reasons.
    """
    for mistake in exercise.mistakes:
        if mistake.recognise is not None:
            if mistake.recognise(attempt):
                return mistake
            continue
        for variant in mistake.variants:
            if _behaves_like(Attempt({**exercise.reference, **variant}), trials):
                return mistake
    return None


def _behaves_like(imposter: Attempt, trials: list[Trial]) -> bool:
    evidence = False
    for trial in trials:
        outcome = run(imposter, trial.family, trial.arguments)
        if not same(trial.yours, outcome, trial.family.tolerance):
            return False
        evidence = evidence or (trial.wrong and trial.yours.error is None)
    return evidence
