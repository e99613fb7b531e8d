"""The learner's folder is made once and never overwritten; progress survives kills, damage and read-only disks."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from processes import started, wait_until
from regard.course import course_folder as folder_module
from regard.course import learner_progress as progress_module
from regard.course.catalogue import entries, find
from regard.course.course_folder import open_folder, reset
from regard.course.learner_progress import NAME, load_progress
from regard.course.session import Session
from regard.course.verdict import Verdict
from regard.text.input_error import InputError


def test_a_folder_is_made_once_and_never_overwritten(tmp_path: Path) -> None:
    course = open_folder(tmp_path / "course")
    assert course.created
    for entry in entries():
        assert sorted(path.name for path in (course.path / entry.name).iterdir()) == [
            "README.md",
            "exercise.py",
            "hint.md",
        ]
        assert course.file(entry).read_text(encoding="utf-8") == entry.starter
    mine = course.file(entries()[0])
    mine.write_text("# my work\n")
    (course.path / entries()[1].name / "exercise.py").unlink()
    again = open_folder(tmp_path / "course")
    assert not again.created
    assert mine.read_text() == "# my work\n"
    assert not again.file(entries()[1]).exists()  # what a learner took away stays away until a reset
    (course.path / entries()[2].name).rename(tmp_path / "elsewhere")
    assert open_folder(tmp_path / "course").file(entries()[2]).exists()  # an exercise that the course has since gained


def test_inside_a_course_it_is_that_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a second one inside the first."""
    monkeypatch.chdir(tmp_path)
    assert open_folder(None).path == Path("regard-course")
    for place, wanted in (("regard-course", "."), ("regard-course/01_softmax", ".."), (".", "regard-course")):
        monkeypatch.chdir(tmp_path / place)
        opened = open_folder(None)
        assert (str(opened.path), opened.created) == (wanted, False)
        assert opened.file(find("1")).is_file()
    assert not (tmp_path / "regard-course" / "regard-course").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="holds other things; give an empty or new folder with --folder"):
        open_folder(tmp_path)
    with pytest.raises(InputError, match="is a file, wanted a folder"):
        open_folder(tmp_path / "thesis.txt")


def test_reset_keeps_what_was_there(tmp_path: Path) -> None:
    course = open_folder(tmp_path / "course")
    entry = find("1")
    assert reset(course, entry) is None
    for number in (1, 2):
        course.file(entry).write_text(f"# version {number}\n")
        kept = reset(course, entry)
        assert kept is not None
        assert kept.name == f"exercise.before-reset-{number}.py"
        assert kept.read_text() == f"# version {number}\n"
    assert course.file(entry).read_text(encoding="utf-8") == entry.starter


def test_what_a_learner_or_another_process_just_wrote_is_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a look for a file and its writing, somebody else makes it: here every look finds nothing."""
    course = open_folder(tmp_path / "course")
    entry = find("1")
    course.file(entry).write_text("# version 1\n")
    reset(course, entry)
    course.file(entry).write_text("# version 2\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "exists", lambda path, **_: False)
        open_folder(tmp_path / "course")
        assert course.file(entry).read_text() == "# version 2\n"
        kept = reset(course, entry)
    assert kept is not None
    assert kept.read_text() == "# version 2\n"
    assert kept.with_name("exercise.before-reset-1.py").read_text() == "# version 1\n"


def refuse(*_: object, **__: object) -> None:
    raise OSError(30, "Read-only file system")


def test_a_read_only_place_is_reported_and_another_one_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(folder_module, "DEFAULT", Path("/proc/regard-course"))
    course = open_folder(None)
    assert course.path.is_relative_to(tmp_path)
    assert "cannot be written" in course.notes[0]
    assert "--folder PATH" in course.notes[0]
    with pytest.raises(InputError, match=r"cannot be written: .*--folder"):
        open_folder(Path("/proc/regard-course"))


def test_progress_goes_elsewhere_where_the_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module.tempfile, "gettempdir", lambda: str(tmp_path))
    open_folder(tmp_path / "course")
    progress = load_progress(tmp_path / "course")
    write = progress_module.write_whole

    def only_elsewhere(place: Path, text: str, **options: bool) -> None:
        if place.parent == tmp_path / "course":
            refuse()
        write(place, text, **options)

    monkeypatch.setattr(progress_module, "write_whole", only_elsewhere)
    progress.record(find("1"), Verdict("passed", ""))
    progress.save()
    assert "your progress is kept in" in progress.notes[0]
    assert "Read-only file system" in progress.notes[0]
    assert list(load_progress(tmp_path / "course").passed) == [find("1").name]


def test_a_full_disk_costs_the_memory_not_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = load_progress(tmp_path)
    monkeypatch.setattr(progress_module, "write_whole", refuse)
    for _ in range(3):
        progress.save()
    assert len(progress.notes) == 1
    assert "your progress cannot be kept" in progress.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1, "passed"',
        '{"version": 1, "passed": null}',
        '{"version": 1, "passed": ["01_softmax"]}',
        '{"version": 1, "attempts": {"01_softmax": "many"}}',
        '{"version": 1, "current": 3}',
        '{"version": 1, "passed": {"01_softmax": 3}}',
        "[]",
        "\udcff",
    ],
)
def test_a_damaged_file_is_set_aside_and_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    progress = load_progress(tmp_path)
    assert progress.passed == {}
    assert "was damaged" in progress.notes[0]
    assert (tmp_path / f"{NAME}.damaged").exists()
    progress.save()
    assert json.loads((tmp_path / NAME).read_text())["passed"] == {}


def test_two_sessions_in_one_folder_keep_the_progress_of_both(tmp_path: Path) -> None:
    first, second = load_progress(tmp_path), load_progress(tmp_path)
    names = [entry.name for entry in entries()]
    first.record(find("1"), Verdict("passed", ""))
    first.save()
    assert first.notes == ()
    second.record(find("1"), Verdict("failed", ""))
    second.record(find("2"), Verdict("passed", ""))
    second.hints[names[2]] = 2
    second.save()
    assert second.notes == ("another `regard learn` works in this folder: its progress and yours are both kept.",)
    second.save()
    assert len(second.notes) == 1
    first.hints[names[2]] = 1
    first.record(find("3"), Verdict("failed", ""))
    first.save()
    found = load_progress(tmp_path)
    assert sorted(found.passed) == sorted(names[:2])
    assert found.attempts == {names[0]: 2, names[1]: 1, names[2]: 1}
    assert found.hints == {names[2]: 2}
    assert found.notes == ()


def test_sessions_that_save_at_the_same_time_lose_no_attempt(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from regard.course.catalogue import find
from regard.course.learner_progress import load_progress
from regard.course.verdict import Verdict
progress = load_progress(Path({str(tmp_path)!r}))
for _ in range(30):
    progress.record(find("1"), Verdict("failed", ""))
    progress.save()
"""
    with started([sys.executable, "-c", code]) as one, started([sys.executable, "-c", code]) as other:
        assert [process.wait(60) for process in (one, other)] == [0, 0]
    assert load_progress(tmp_path).attempts == {entries()[0].name: 60}


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from regard.course.learner_progress import load_progress
progress = load_progress(Path({str(tmp_path)!r}))
number = 0
while True:
    number += 1
    progress.attempts = {{str(one): number for one in range(2000)}}
    progress.save()
"""
    for attempt in range(4):
        with started([sys.executable, "-c", code]) as process:
            wait_until((tmp_path / NAME).exists, process, "it saved")
            time.sleep(0.05 * attempt)
        progress = load_progress(tmp_path)
        assert progress.notes == ()
        assert len(set(progress.attempts.values())) == 1


def test_the_current_exercise(tmp_path: Path) -> None:
    session = Session(tmp_path / "course")
    assert session.current.number == 1
    session.progress.record(session.current, Verdict("unfinished", ""))
    assert session.progress.attempts == {}  # an untouched starter is no attempt
    session.progress.record(session.current, Verdict("failed", ""))
    session.progress.record(session.current, Verdict("passed", ""))
    assert session.progress.attempts == {entries()[0].name: 2}
    assert session.current.number == 1  # a success does not jump away
    session.choose(find("3"))
    session.progress.record(find("3"), Verdict("passed", ""))
    following = session.next()
    assert following is not None
    assert following.number == 4
    session.progress.save()
    assert Session(tmp_path / "course").current.number == 4  # the next session goes on with what is open


def without_rights(*command: str) -> list[str]:
    """A command for which read-only means read-only, even for root."""
    if os.getuid() != 0:
        return list(command)
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to give that up")
    return ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", *command]


def test_a_read_only_home_from_the_command_line(tmp_path: Path) -> None:
    home, spare = tmp_path / "home", tmp_path / "spare"
    home.mkdir()
    spare.mkdir()
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(spare)}

    def learn(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = without_rights(sys.executable, "-m", "regard", "learn", *arguments)
        return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)

    home.chmod(0o555)
    try:
        done = learn("list")
        assert done.returncode == 0, done.stderr
        assert "so your course is in" in done.stderr
        assert "cannot be written" in learn("list", "--folder", str(home / "new")).stderr
        home.chmod(0o755)
        course = open_folder(home / "regard-course")
        course.file(find("1")).write_text(find("1").solution, encoding="utf-8")
        course.path.chmod(0o555)
        done = learn("run", "1")
        assert done.returncode == 0, done.stderr
        assert "your progress is kept in" in done.stderr
        again = learn("list")
        assert "✓  1" in again.stdout
        assert "your progress is kept in" in again.stderr  # not only the first time
        course.file(find("10")).write_text(find("10").solution, encoding="utf-8")
        home.chmod(0o555)
        assert "your file printed" not in learn("run", "10").stdout  # matplotlib complains about such a home
    finally:
        home.chmod(0o755)
        (home / "regard-course").chmod(0o755)
