"""Grade an attempt: families of inputs, laws, then what needs stable numbers; shrink, show, diagnose."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from regard.course.attempt import Attempt, Unready, raised, where
from regard.course.check import Broken, Check
from regard.course.diagnose import Trial, diagnose
from regard.course.exercise import Arguments, Exercise, Family, Kind, Law
from regard.course.outcome import Difference, Outcome, difference, quiet, run
from regard.course.show import arguments_lines, yours_and_wanted
from regard.course.shrink import draw, shrink, sizes_of
from regard.course.verdict import Verdict

DIAGNOSTIC_DRAWS = 4
"""Inputs of each family on which the named mistakes are compared with the attempt."""


def grade(exercise: Exercise, attempt: Attempt, tell: Callable[[Verdict], None] | None = None) -> Verdict:
    """The verdict on an attempt; `tell` hears it early, before the diagnosis, in case that takes too long."""
    started = time.perf_counter()
    counts: dict[str, int] = {}
    verdict = _examine(exercise, attempt, counts)
    verdict = verdict.with_(checks=sum(counts.values()), counts=counts, seconds=time.perf_counter() - started)
    if verdict.status in ("failed", "unstable", "broken") and verdict.kind not in ("dtype", "changed"):
        if tell is not None:
            tell(verdict)
        mistake = diagnose(exercise, attempt, list(_trials(exercise, attempt, verdict.check)))
        if mistake is not None:
            status = "failed" if verdict.status == "broken" else verdict.status
            verdict = verdict.with_(status=status, mistake=mistake.name, advice=mistake.message)
    return verdict.with_(seconds=time.perf_counter() - started)


def unready(error: Unready) -> Verdict:
    """The verdict on a file that could not even be loaded."""
    half = error.kind == "half"
    return Verdict("missing" if error.kind == "missing" else "broken", error.headline, error.details, half=half)


def _examine(exercise: Exercise, attempt: Attempt, counts: dict[str, int]) -> Verdict:
    kinds: tuple[Kind, ...] = ("spec", "stability")
    for kind in kinds:
        for family in exercise.families:
            if family.kind == kind:
                verdict = _try_family(exercise, attempt, family, counts)
                if verdict is not None:
                    return verdict
        for law in exercise.laws:
            if law.kind == kind:
                verdict = _try_law(attempt, law, counts)
                if verdict is not None:
                    return verdict
    return Verdict("passed", exercise.praise or "Every check passed.")


def _try_family(exercise: Exercise, attempt: Attempt, family: Family, counts: dict[str, int]) -> Verdict | None:
    reference = Attempt(exercise.reference)

    def compare(arguments: Arguments) -> tuple[Outcome, Difference | None]:
        yours = run(attempt, family, arguments)
        wanted = run(reference, family, arguments)
        counts[family.name] = counts.get(family.name, 0) + 1 + len(wanted.leaves)
        return yours, difference(yours, wanted, family.tolerance)

    for index in range(family.count):
        sizes = sizes_of(family, index)
        arguments = draw(family, sizes, index)
        yours, found = compare(arguments)
        if found is None:
            continue
        if isinstance(yours.error, NotImplementedError):
            return _unfinished(yours.error)
        kind = found.kind

        def fails(smaller: Arguments, kind: str = kind) -> bool:
            again = compare(smaller)[1]
            return again is not None and again.kind == kind

        smallest = shrink(family, sizes, index, arguments, fails)
        yours, again = compare(smallest)
        return _family_verdict(attempt, family, smallest, yours, again or found)
    return None


def _family_verdict(
    attempt: Attempt, family: Family, arguments: Arguments, yours: Outcome, found: Difference
) -> Verdict:
    shown = family.describe(arguments) if family.describe is not None else arguments_lines(arguments)
    if yours.error is not None:
        name = family.function or next(iter(attempt.functions))
        lines = where(yours.error, attempt.path)
        return Verdict("broken", raised(yours.error, name), (*lines, "", *shown), "error", family.name)
    lines = () if found.yours is None or found.wanted is None else tuple(yours_and_wanted(found.yours, found.wanted))
    unstable = family.kind == "stability" and found.kind == "value"
    headline = f"Right for ordinary numbers, but unstable: {family.name}." if unstable else found.headline
    details = (*shown, "", *lines) if lines else tuple(shown)
    return Verdict("unstable" if unstable else "failed", headline, details, found.kind, family.name)


def _try_law(attempt: Attempt, law: Law, counts: dict[str, int]) -> Verdict | None:
    check = Check()
    try:
        with quiet():
            law.trial(attempt, check, np.random.default_rng([7, *law.name.encode()]))
    except Broken as broken:
        unstable = law.kind == "stability"
        headline = f"Right for ordinary numbers, but unstable: {broken.headline}" if unstable else broken.headline
        details = (f"law: {law.meaning}", "", *broken.details)
        return Verdict("unstable" if unstable else "failed", headline, details, "law", law.name)
    except NotImplementedError as error:
        return _unfinished(error)
    except BaseException as error:
        details = (*where(error, attempt.path), f"while trying the law: {law.meaning}")
        return Verdict("broken", raised(error, "Your function"), details, "error", law.name)
    finally:
        counts[law.name] = counts.get(law.name, 0) + check.count
    return None


def _unfinished(error: BaseException) -> Verdict:
    return Verdict("unfinished", str(error) or "The TODO is still to be written.")


def _trials(exercise: Exercise, attempt: Attempt, failed: str) -> Iterator[Trial]:
    """Inputs for the diagnosis: those of the function that failed; of all where a law failed."""
    reference = Attempt(exercise.reference)
    functions = {family.function for family in exercise.families if family.name == failed}
    for family in exercise.families:
        if functions and family.function not in functions:
            continue
        for index in range(min(DIAGNOSTIC_DRAWS, family.count)):
            arguments = draw(family, sizes_of(family, index), index)
            yield Trial(family, arguments, run(attempt, family, arguments), run(reference, family, arguments))
