"""The one small change that makes a learner's program right: the most exact diagnosis there is."""

import ast
import io
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

from regard.course.attempt import Attempt
from regard.course.outcome import difference_of, run
from regard.course.repair_edits import Edit, edits
from regard.course.trial import Trial

MOST_EDITS = 2000
SECONDS = 3.0
"""A learner waits for it."""


def repair(attempt: Attempt, trials: list[Trial], function: str | None, holds: Callable[[Attempt], bool]) -> str:
    """A sentence with the line and the change after which every input comes out right and `holds` is true.

    If `holds` is false for every change, but some input was wrong, the sentence is about the first change that makes
    every input right. Otherwise it is empty.
    """
    if attempt.path is None:
        return ""
    try:
        tree = ast.parse(attempt.path.read_text(encoding="utf-8-sig"))
    except (OSError, SyntaxError, ValueError):
        return ""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    functions.sort(key=lambda node: node.name != function)  # the wrong one first: time is limited
    began = time.perf_counter()
    first = sorted(trials, key=lambda trial: not trial.wrong)
    partly: Edit | None = None
    for number, edit in enumerate(edits(ast.Module(list(functions), []))):
        if number == MOST_EDITS or time.perf_counter() - began > SECONDS:
            break
        changed = _right(attempt, edit, first)
        if changed is not None and _true(holds, changed):
            return f"One change makes it right. Line {edit.line}: {edit.what}."
        if changed is not None and any(trial.wrong for trial in trials):
            partly = partly or edit
    if partly is None:
        return ""
    return f"One change makes these answers right (but not all that follow). Line {partly.line}: {partly.what}."


def _right(attempt: Attempt, edit: Edit, trials: list[Trial]) -> Attempt | None:
    """The changed program if every input comes out right."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            candidate = attempt.varied(edit.tree)
            right = all(
                difference_of(trial.family, run(candidate, trial.family, trial.arguments), trial.wanted) is None
                for trial in trials
            )
    except Exception:
        return None
    return candidate if right else None


def _true(holds: Callable[[Attempt], bool], candidate: Attempt) -> bool:
    try:
        return holds(candidate)
    except Exception:
        return False
