"""An exercise is declared here; its named mistakes are mostly edits of the solution, in the folder's `slips.toml`.

    [no_tanh]
    message = "The tanh is missing: …"
    variants = [[["torch.tanh(", "("]]]     # each variant is a list of [old, new]
    code = ["def softmax(scores): …"]       # or functions that replace the solution's

Because they are edits, two of them can be made at once: that is how two mistakes in one answer are recognised.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from regard.course.exercise import Edits, Exercise, Family, Functions, Law, Mistake


def declare(
    check_file: str,
    *,
    reference: Functions,
    families: tuple[Family, ...],
    laws: tuple[Law, ...] = (),
    mistakes: tuple[Mistake, ...] = (),
    alternatives: tuple[Functions, ...] = (),
    praise: str = "",
) -> Exercise:
    """The exercise of a check.py: its checks, with solution.py and the mistakes of slips.toml from beside it."""
    home = Path(check_file).parent
    solution = (home / "solution.py").read_text(encoding="utf-8")
    table = home / "slips.toml"
    slips = tomllib.loads(table.read_text(encoding="utf-8")) if table.is_file() else {}
    mistakes += tuple(_mistake(name, about, solution, tuple(reference)) for name, about in slips.items())
    return Exercise(reference, families, laws, mistakes, alternatives, praise, solution)


def edited(solution: str, edits: Edits, functions: tuple[str, ...], code: str = "") -> Functions:
    """The functions of a solution after all edits; each must change something."""
    for old, new in edits:
        if old not in solution:
            raise ValueError(f"the solution has no {old!r} to edit")
        solution = solution.replace(old, new)
    module = ModuleType("slip")
    exec(compile(f"{solution}\n{code}", "<slip>", "exec", dont_inherit=True), module.__dict__)
    found: dict[str, Callable[..., Any]] = {name: getattr(module, name) for name in functions}
    return found


def both(one: Mistake, other: Mistake, functions: tuple[str, ...]) -> tuple[Functions, ...]:
    """Two mistakes at once, where the edits of both still fit."""
    made = []
    for first in one.edits:
        for second in other.edits:
            try:
                made.append(edited(one.solution, (*first, *second), functions))
            except (ValueError, SyntaxError):
                continue
    return tuple(made)


def _mistake(name: str, about: dict[str, Any], solution: str, functions: tuple[str, ...]) -> Mistake:
    edits = tuple(tuple((old, new) for old, new in variant) for variant in about.get("variants", []))
    variants = [edited(solution, one, functions) for one in edits]
    variants += [edited(solution, (), functions, code) for code in about.get("code", [])]
    return Mistake(name, about["message"], tuple(variants), edits=edits, solution=solution)
