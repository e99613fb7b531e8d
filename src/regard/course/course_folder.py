"""The learner's folder: made once, added to when the course grows, never overwritten."""

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from regard.course.catalogue import ExerciseEntry, entries
from regard.files import write_whole
from regard.text.input_error import InputError

DEFAULT = Path("regard-course")
TITLE = "Learn attention by writing it"
FILES = ("README.md", "exercise.py", "hint.md")

WELCOME = """\
# {title}

Run `{command}` here, or in the folder above, and keep the terminal open beside your editor: each time you save an
`exercise.py`, it is graded. Each folder here is one exercise, in this order:

{table}

In a folder: `README.md` says what to write, `exercise.py` is where you write it (it also runs alone, with a small
experiment: `python exercise.py`), `hint.md` has three hints, the last one nearly the code.
Our solution is shown once yours passes.
"""


def default_folder() -> Path:
    """./regard-course, or ./NAME-work for a teacher's course NAME."""
    home = entries()[0].home.parent
    return DEFAULT if entries()[0].ours else Path(f"{home.name}-work")


@dataclass(frozen=True)
class CourseFolder:
    """The folder in which the learner works, and notes about it."""

    path: Path
    created: bool
    notes: tuple[str, ...] = ()

    def file(self, entry: ExerciseEntry) -> Path:
        return self.path / entry.name / "exercise.py"


def open_folder(wanted: Path | None) -> CourseFolder:
    """The requested folder, created if missing; without one the default, or a temporary place if that is read-only.

    Inside a course folder, that course: a second one is never created in it.
    """
    usual = default_folder()
    path = wanted or (usual if usual.exists() else _around() or usual)
    try:
        return CourseFolder(path, _fill(path))
    except OSError as error:
        if any((path / entry.name / "exercise.py").is_file() for entry in entries()):
            return CourseFolder(path, False)  # read-only, but there: it can be graded
        if wanted is not None:
            raise InputError(
                f"{path} cannot be written: {error.strerror}; give another folder with --folder"
            ) from error
        elsewhere = spare_place() / "course"
        note = (
            f"{Path.cwd()} cannot be written ({error.strerror}), so your course is in {elsewhere}. "
            f"That place is temporary: `regard learn --folder PATH` puts it where you like."
        )
        return CourseFolder(elsewhere, _fill(elsewhere), (note,))


def _around() -> Path | None:
    """The course folder that contains the current folder, if there is one."""
    here = Path.cwd()
    for place in (here, *here.parents):
        if any((place / entry.name / "exercise.py").is_file() for entry in entries()):
            return Path(os.path.relpath(place, here))
    return None


def spare_place(make: bool = True) -> Path:
    """A private folder outside the home, for machines whose home cannot be written."""
    place = Path(tempfile.gettempdir()) / f"regard-{os.getuid()}"
    if make:
        place.mkdir(mode=0o700, exist_ok=True)
    elif not place.exists():
        return place
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise InputError(f"{place} belongs to another user; set TMPDIR to a folder of yours")
    return place


def reset(folder: CourseFolder, entry: ExerciseEntry) -> Path | None:
    """Put the starter back; what was there is kept beside it under the name that is returned."""
    path = folder.file(entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: Path | None = None
    if path.is_file() and path.read_bytes() != entry.starter.encode():
        kept = _new_name(path)
        path.replace(kept)
    write_whole(path, entry.starter)
    return kept


def _new_name(path: Path) -> Path:
    """An empty file beside the exercise, made by us: two resets at once never take the same one."""
    for number in count(1):
        name = path.with_name(f"exercise.before-reset-{number}.py")
        with suppress(FileExistsError):
            name.touch(exist_ok=False)
            break
    return name


def _fill(path: Path) -> bool:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, wanted a folder; give another one with --folder")
    created = not path.exists()
    if not created and any(path.iterdir()) and not any((path / entry.name).is_dir() for entry in entries()):
        raise InputError(f"{path} holds other things; give an empty or new folder with --folder")
    path.mkdir(parents=True, exist_ok=True)
    rows = "\n".join(f"{entry.number:>4}. `{entry.name}/` {entry.title}" for entry in entries())
    home = entries()[0].home.parent
    title, command = (TITLE, "regard learn") if entries()[0].ours else (home.name, f"regard learn --course {home}")
    _write_new(path / "README.md", WELCOME.format(table=rows, title=title, command=command))
    for entry in entries():
        place = path / entry.name
        with suppress(FileExistsError):
            place.mkdir()
            _write_new(place / "exercise.py", entry.starter)
        _write_new(place / "README.md", entry.readme)
        _write_new(place / "hint.md", (entry.home / "hint.md").read_text(encoding="utf-8"))
    return created


def _write_new(path: Path, text: str) -> None:
    with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
        file.write(text)
