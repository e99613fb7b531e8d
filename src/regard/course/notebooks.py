"""`regard learn --notebooks DIR`: one Jupyter notebook for each exercise, with text, starter, check and experiment."""

import json
import re
from pathlib import Path
from typing import Any

from regard.course.catalogue import ExerciseEntry, entries
from regard.files import write_whole

INSTALL = """try:
    import regard
except ImportError:  # on Colab: install once for each session
    %pip install --quiet regard"""
MAIN = re.compile(r'^if __name__ == "__main__":\n', flags=re.MULTILINE)


def write_notebooks(directory: Path) -> list[Path]:
    """A notebook for each exercise; files that are there already are left alone, they may be a learner's work."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for entry in entries():
        path = directory / f"{entry.name}.ipynb"
        if not path.exists():
            write_whole(path, json.dumps(notebook(entry), indent=1, ensure_ascii=False) + "\n")
            written.append(path)
    return written


def notebook(entry: ExerciseEntry) -> dict[str, Any]:
    """Text, an install cell for Colab, the starter, the check, the experiment, the hints folded."""
    starter, experiment = _parts(entry.starter)
    functions = ", ".join(_functions(starter))
    course = "" if entry.ours else f", course={str(entry.home.parent)!r}"
    text = entry.readme.replace("in `exercise.py`", "in the next cell but one")
    cells = [
        _cell("markdown", text),
        _cell("code", INSTALL),
        _cell("code", starter),
        _cell("code", f'from regard.course import check\n\ncheck("{entry.name[3:]}", {functions}{course})'),
        _cell("code", experiment),
        *(_cell("markdown", _folded(f"Hint {number}", hint)) for number, hint in enumerate(entry.hints, 1)),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"{entry.name.replace('_', '-')}-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _parts(starter: str) -> tuple[str, str]:
    """The functions to write, and the experiment under `if __name__ == "__main__"` without its indentation.

    A figure that the experiment draws is shown below its cell.
    """
    before, after = MAIN.split(starter, maxsplit=1)
    experiment = re.sub(r"^    ", "", after, flags=re.MULTILINE)
    experiment = re.sub(r'Path\(__file__\)\.with_name\(("[^"]+")\)', r"Path(\1)", experiment)  # no __file__ here
    shown = "\nfigure" if "figure = " in experiment else ""
    return before.strip(), experiment.strip() + shown


def _functions(starter: str) -> list[str]:
    """Functions with an open TODO; the others in the starter come from earlier exercises."""
    bodies = re.split(r"^(?=def )", starter, flags=re.MULTILINE)[1:]
    return [body[4 : body.index("(")] for body in bodies if "NotImplementedError" in body]


def _cell(kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": "", "metadata": {}, "source": source.splitlines(keepends=True)}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell
