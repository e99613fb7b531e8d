"""Grades an attempt: inputs and laws, then numerical stability; shrinks, shows and diagnoses the first failure."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from regard.course.answer_map import AnswerMap, answer_map, largest
from regard.course.assertions import Broken, Check
from regard.course.attempt import Attempt, Unready, position, raised, where
from regard.course.diagnose import diagnose
from regard.course.error_advice import advice_for
from regard.course.exercise import Arguments, Exercise, Family, Kind, Law
from regard.course.outcome import Difference, Outcome, difference_of, none_headline, quiet, run
from regard.course.repair import repair
from regard.course.return_paths import why_none
from regard.course.show import arguments_lines, yours_and_wanted
from regard.course.shrink import draw, shrink, sizes_of
from regard.course.slips import edited
from regard.course.trial import Trial
from regard.course.verdict import Verdict
from regard.course.waiting import REMARKS

DIAGNOSTIC_DRAWS = 16
"""Inputs of each family on which the named mistakes are compared with the attempt."""
QUICK_SECONDS = 0.3
"""A law that is broken within this time is tried on changed programs, too."""


@dataclass(frozen=True)
class _Found:
    """A verdict, and the input that led to it."""

    verdict: Verdict
    family: Family | None = None
    arguments: Arguments | None = None
    law: Law | None = None
    law_seconds: float = 0.0


def grade(exercise: Exercise, attempt: Attempt, tell: Callable[[Verdict], None] = lambda verdict: None) -> Verdict:
    """The verdict on an attempt; `tell` receives it early, before each part of the diagnosis, in case that takes too
    long."""
    started = time.perf_counter()
    counts: dict[str, int] = {}
    REMARKS.set(())
    found = _examine(exercise, attempt, counts)
    verdict = found.verdict.with_(checks=sum(counts.values()), counts=counts, seconds=time.perf_counter() - started)
    if verdict.status in ("failed", "unstable", "broken") and verdict.kind != "changed":
        tell(verdict)
        trials = list(_trials(exercise, attempt, found))
        diagnosis = diagnose(exercise, attempt, trials, found.law)
        advice = diagnosis.advice or verdict.advice
        status = "failed" if diagnosis.mistake and verdict.status == "broken" else verdict.status
        verdict = verdict.with_(status=status, mistake=diagnosis.mistake, advice=advice)
        if diagnosis.mistake is None:
            tell(verdict)  # a changed program may do anything
            change = _repaired(exercise, attempt, trials, found)
            verdict = verdict.with_(advice=" ".join(filter(None, (change, advice))))  # the most exact first
    return verdict.with_(
        notes=(*_done_so_far(exercise, verdict), *REMARKS.get()), seconds=time.perf_counter() - started
    )


def unready(error: Unready) -> Verdict:
    """The verdict on a file that could not even be loaded."""
    half = error.kind == "half"
    return Verdict("missing" if error.kind == "missing" else "broken", error.headline, error.details, half=half).with_(
        line=error.place[0], column=error.place[1]
    )


def _examine(exercise: Exercise, attempt: Attempt, counts: dict[str, int]) -> _Found:
    kinds: tuple[Kind, ...] = ("spec", "stability")
    templates: dict[str, Any] = {}
    right: list[AnswerMap | None] = []
    for kind in kinds:
        for family in exercise.families:
            if family.kind == kind:
                if family.call is None and family.diagnostic:
                    name = family.function or exercise.functions[0]
                    templates.setdefault(name, _right_answer(exercise, family))
                found = _try_family(exercise, attempt, family, counts, right)
                if found is not None:
                    return found
        for law in exercise.laws:
            if law.kind == kind:
                began = time.perf_counter()
                verdict = _try_law(attempt.answering_like(templates), law, counts)
                if verdict is not None:
                    return _Found(verdict, law=law, law_seconds=time.perf_counter() - began)
    return _Found(Verdict("passed", exercise.praise or "Every check passed.", answer=largest(right)))


def _right_answer(exercise: Exercise, family: Family) -> Any:
    """The reference's answer to one input: answers are converted to its type before a law reads them."""
    return run(Attempt(exercise.reference), family, draw(family, sizes_of(family, 0), 0)).answer


def _try_family(
    exercise: Exercise, attempt: Attempt, family: Family, counts: dict[str, int], right: list[AnswerMap | None]
) -> _Found | None:
    """None if every answer is right; the last ones are then added to `right`, to be drawn."""
    reference = Attempt(exercise.reference)

    def compare(arguments: Arguments) -> tuple[Outcome, Difference | None]:
        yours = run(attempt, family, arguments)
        if isinstance(yours.error, NotImplementedError):  # a starter need not wait for a slow reference
            return yours, Difference("error", "")
        wanted = run(reference, family, arguments)
        counts[family.name] = counts.get(family.name, 0) + 1 + len(wanted.leaves)
        found = difference_of(family, yours, wanted)
        if found is None and last:
            right.extend(map(answer_map, yours.as_compared_with(wanted), wanted.leaves))
        return yours, found

    last = False
    for index in range(family.count):
        sizes, last = sizes_of(family, index), index == family.count - 1
        arguments = draw(family, sizes, index)
        yours, found = compare(arguments)
        if found is None:
            continue
        if isinstance(yours.error, NotImplementedError):
            return _Found(_unfinished(yours.error, family.name))

        def fails(smaller: Arguments, first: Difference = found) -> bool:
            again = compare(smaller)[1]
            return again is not None and again.like(first) and (again.visible or not first.visible)

        smallest = shrink(family, sizes, index, arguments, fails, partial(_settled, exercise, family))
        yours, again = compare(smallest)
        verdict = _family_verdict(attempt, family, smallest, yours, again or found)
        drawn = answer_map(found.yours, found.wanted)  # before it was shrunk: a larger picture
        return _Found(verdict.with_(answer=drawn), family, smallest)
    return None


def _settled(exercise: Exercise, family: Family, arguments: Arguments) -> bool:
    """Whether our solution and every alternative agree with the reference on an input."""
    others = [edited(exercise.solution, (), exercise.functions)] if exercise.solution else []
    wanted = run(Attempt(exercise.reference), family, arguments)
    return all(
        difference_of(family, run(Attempt({**exercise.reference, **one}), family, arguments), wanted) is None
        for one in (*others, *exercise.alternatives)
    )


def _family_verdict(
    attempt: Attempt, family: Family, arguments: Arguments, yours: Outcome, found: Difference
) -> Verdict:
    shown = family.describe(arguments) if family.describe is not None else arguments_lines(arguments)
    if isinstance(yours.error, Broken):  # raised by the check, not by the learner's code
        return Verdict("failed", yours.error.headline, (*yours.error.details, *shown), "error", family.name)
    if yours.error is not None:
        name = family.function or next(iter(attempt.functions))
        lines = where(yours.error, attempt.path)
        line, column = position(yours.error, attempt.path)
        details = (*lines, "", *shown)
        return Verdict("broken", raised(yours.error, name), details, "error", family.name, line=line, column=column)
    lines = () if found.yours is None or found.wanted is None else tuple(yours_and_wanted(found.yours, found.wanted))
    unstable = family.kind == "stability" and found.kind == "value"
    headline = f"Right for ordinary numbers, but unstable: {family.name}." if unstable else found.headline
    if found.missing_return and found.wanted is not None:
        reason = why_none(attempt.path, family.function or next(iter(attempt.functions)))
        headline = none_headline(found.wanted, reason)
    details = (*shown, "", *lines) if lines else tuple(shown)
    line = attempt.line_of(family.function or next(iter(attempt.functions)))
    return Verdict("unstable" if unstable else "failed", headline, details, found.kind, family.name, line=line)


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
        return _unfinished(error, law.name)
    except (Exception, SystemExit) as error:
        details = (*where(error, attempt.path), f"while trying the law: {law.meaning}")
        return Verdict("broken", raised(error, "Your function"), details, "error", law.name, advice=advice_for(error))
    finally:
        counts[law.name] = counts.get(law.name, 0) + check.count
    return None


def _unfinished(error: BaseException, check: str) -> Verdict:
    return Verdict("unfinished", str(error) or "The TODO is still to be written.", check=check)


def _done_so_far(exercise: Exercise, verdict: Verdict) -> tuple[str, ...]:
    """Notes that name the functions that are already right, while another one is unfinished."""
    if verdict.status != "unfinished":
        return ()
    open_ones = {family.function for family in exercise.families if family.name == verdict.check}
    begun = {family.function for family in exercise.families if verdict.counts.get(family.name)}
    return tuple(f"`{name}` is right." for name in exercise.functions if name in begun - open_ones)


def _trials(exercise: Exercise, attempt: Attempt, found: _Found) -> Iterator[Trial]:
    """Inputs for the diagnosis: the one that is shown, and those of the function that failed (of all, for a law)."""
    reference = Attempt(exercise.reference)
    if found.family is not None and found.arguments is not None and found.family.diagnostic:
        yield _trial(attempt, reference, found.family, found.arguments)
    for family in exercise.families:
        if _tells(family, found):
            for index in range(min(DIAGNOSTIC_DRAWS, family.count)):
                sizes = sizes_of(family, index)
                yield _trial(attempt, reference, family, draw(family, sizes, index), sizes)


def _repaired(exercise: Exercise, attempt: Attempt, trials: list[Trial], found: _Found) -> str:
    """The repair, where there is something to try it on; a slow law (a training) is not tried many times."""
    if not any(trial.wrong for trial in trials) and (found.law is None or found.law_seconds > QUICK_SECONDS):
        return ""
    return repair(attempt, trials, _function(found), partial(_holds, exercise, found))


def _function(found: _Found) -> str | None:
    return found.family.function if found.family is not None else None


def _holds(exercise: Exercise, found: _Found, candidate: Attempt) -> bool:
    """Whether a changed program is right for extreme numbers, too, and keeps the law that the attempt broke."""
    for family in exercise.families:
        if family.kind == "stability" and family.diagnostic and _function(found) in (None, family.function):
            arguments = draw(family, sizes_of(family, 0), 0)
            wanted = run(Attempt(exercise.reference), family, arguments)
            if difference_of(family, run(candidate, family, arguments), wanted) is not None:
                return False
    return found.law is None or _try_law(candidate, found.law, {}) is None


def _tells(family: Family, found: _Found) -> bool:
    """Whether a family's inputs help the diagnosis; extreme numbers only where nothing else is wrong."""
    where_found = found.family or found.law
    extreme = family.kind == "stability" and where_found is not None and where_found.kind == "spec"
    about = found.family is None or family.function == found.family.function
    return family.diagnostic and about and not extreme


def _trial(
    attempt: Attempt,
    reference: Attempt,
    family: Family,
    arguments: Arguments,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> Trial:
    return Trial(family, arguments, run(attempt, family, arguments), run(reference, family, arguments), sizes)
