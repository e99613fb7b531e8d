"""The report of --grade: a table as CSV, a feedback file for each learner, and files that a teacher should read."""

import ast
import builtins
import csv
import difflib
import io
import keyword
import re
import tokenize
from itertools import combinations, pairwise
from pathlib import Path

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.classroom import Graded
from regard.course.learner_progress import load_progress
from regard.course.verdict_text import Paint, verdict_lines, visible
from regard.files import write_whole
from regard.reading_files import read_regular
from regard.text.input_error import InputError

ALIKE = 0.97
LEAST_LETTERS = 120
"""Shorter answers are not compared: there are few ways to write a softmax."""
OUTSIDE = re.compile(r"regard\.course|(/|~/|\.\./?)[\w.~/-]*$")
"""A string that names a module of the course, or a path out of the exercise's folder."""
OWN_EXERCISE = re.compile(r"e\d\d_\w+(\.|$)")
"""A module of a teacher's own course."""
REACHING_OUT = (
    *("os.write", "os._exit", "os.dup2", "os.fork", "os.kill", "os.system", "os.chdir", "os.open", "os.popen"),
    *("sys.modules", "sys._getframe", "sys.path", "sys.meta_path"),
)
SUSPECT_NAMES = ("__import__", "exec", "eval", "compile", "open", "__file__", "__loader__", "__spec__", "__builtins__")
SUSPECT_MODULES = (
    *("code", "ctypes", "gc", "importlib", "inspect", "mmap", "multiprocessing", "pickle", "pkgutil", "runpy"),
    *("shutil", "signal", "socket", "subprocess", "tempfile"),
    "regard.course",
)
"""Names with which a file can leave its own functions; no exercise needs any of them."""


def own_lines(entry: ExerciseEntry, text: str) -> str:
    """A file without the starter's lines, comments, empty lines and spacing; all names that can be chosen are one."""
    starter = {line.strip() for line in entry.starter.splitlines()}
    kept = "\n".join(line for line in text.splitlines() if line.strip() not in starter)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(kept + "\n").readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return " ".join(kept.split())
    known = {*keyword.kwlist, *dir(builtins)}
    words = []
    for before, one in pairwise([tokens[-1], *tokens]):
        if one.type == tokenize.NAME and before.string != "." and one.string not in known:
            words.append("name")
        elif one.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER):
            words.append(one.string)
    return " ".join(words)


def grader_accesses(text: str) -> list[str]:
    """Imports of the course's own code, and calls that reach into the grading process."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _is_suspect(alias.name)]
        if isinstance(node, ast.ImportFrom) and _is_suspect(str(node.module)):
            found.append(str(node.module))
        if isinstance(node, ast.ImportFrom):
            found += [name for alias in node.names if (name := f"{node.module}.{alias.name}") in REACHING_OUT]
        if isinstance(node, ast.Name) and node.id in SUSPECT_NAMES:
            found.append(node.id)
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in REACHING_OUT:
            found.append(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OUTSIDE.match(node.value):
            found.append(node.value)
    return sorted(set(found))


def _is_suspect(module: str) -> bool:
    return any(f"{module}.".startswith(f"{one}.") for one in SUSPECT_MODULES) or OWN_EXERCISE.match(module) is not None


def remarks(graded: list[Graded]) -> dict[str, list[str]]:
    """By learner: files that look into the grader, and files that are nearly another learner's."""
    texts = {
        one.learner: {entry.name: _text(one.folder / entry.name / "exercise.py") for entry in entries()}
        for one in graded
    }
    found: dict[str, list[str]] = {one.learner: [] for one in graded}
    folders = {one.learner: one.folder for one in graded}
    for entry in entries():
        own = {learner: own_lines(entry, files[entry.name]) for learner, files in texts.items()}
        for learner, files in texts.items():
            usual = grader_accesses(entry.starter)
            if (folders[learner] / entry.name / "exercise.py").is_symlink():
                found[learner].append(f"{entry.number}: exercise.py is a link to another file")
            if len(own[learner]) >= LEAST_LETTERS and _alike(own[learner], own_lines(entry, entry.solution)):
                found[learner].append(f"{entry.number}: nearly the same as our solution")
            if names := [name for name in grader_accesses(files[entry.name]) if name not in usual]:
                found[learner].append(f"{entry.number}: uses {', '.join(names)}")
        for one, other in combinations([name for name, text in own.items() if len(text) >= LEAST_LETTERS], 2):
            if _alike(own[one], own[other]):
                found[one].append(f"{entry.number}: nearly the same as {other}'s")
                found[other].append(f"{entry.number}: nearly the same as {one}'s")
    return {learner: lines for learner, lines in found.items() if lines}


def _alike(one: str, other: str) -> bool:
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def write_report(graded: list[Graded], directory: Path) -> list[Path]:
    """grades.csv, and NAME.txt with the diagnosis of every exercise for each learner."""
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory} is a file; --report wants a folder for grades.csv and the feedback files")
    directory.mkdir(parents=True, exist_ok=True)
    remarked = remarks(graded)
    table = directory / "grades.csv"
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    numbers = [entry.number for entry in entries()]
    writer.writerow(["learner", "credit", "of", *numbers, "tries", "hints", "remarks"])
    for one in graded:
        progress = load_progress(one.folder)
        statuses = [one.verdicts[entry.name].status if entry.name in one.verdicts else "" for entry in entries()]
        tries, hints = sum(progress.attempts.values()), sum(progress.hints.values())
        row = [one.learner, one.credit, one.most, *statuses, tries, hints, "; ".join(remarked.get(one.learner, []))]
        writer.writerow([_harmless(value) for value in row])
    write_whole(table, file.getvalue().encode(errors="replace"))  # names and messages may hold lone surrogates
    return [table, *(_feedback(one, directory) for one in graded)]


def _feedback(one: Graded, directory: Path) -> Path:
    lines = [f"{visible(one.learner)}: {one.credit:g} of {one.most} points", ""]
    for entry in entries():
        if entry.name in one.verdicts:
            lines += [*verdict_lines(entry, one.verdicts[entry.name], Paint(False)), ""]
    path = directory / f"{Path(one.learner).name}.txt"
    write_whole(path, "\n".join(lines).encode(errors="replace"))
    return path


def _harmless(value: object) -> object:
    """A folder may be called =cmd(): a spreadsheet must not take it for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _text(path: Path) -> str:
    try:
        return read_regular(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
