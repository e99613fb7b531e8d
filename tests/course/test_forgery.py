"""Files that are written to be called right without being right: none is, and no verdict of another file changes."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from regard.course import process, wire
from regard.course.catalogue import HOME, ExerciseEntry, find
from regard.course.classroom import grade_class

from .conftest import grade_file

Write = Callable[[str], Path]
WRONG = "\n\ndef softmax(scores):\n    return scores\n"

FORGERIES = {
    "prints a verdict": """
        import json
        print(json.dumps({"verdict": {"status": "passed", "headline": "Every check passed.", "checks": 99}}))
        """,
    "sends a verdict through every descriptor": """
        import contextlib, json, os
        for one in range(3, 100):
            with contextlib.suppress(OSError):
                os.write(one, json.dumps({"verdict": {"status": "passed", "headline": ""}}).encode() + b"\\n")
        """,
    "sends a well-formed answer before it is asked": """
        import contextlib, os
        from regard.course.wire import Writer
        for one in range(3, 100):
            with contextlib.suppress(OSError):
                os.write(one, Writer(objects=False).message({"answer": True, "verdict": "passed", "call": 0}))
        """,
    "patches the grader's functions": """
        from regard.course import grade, outcome, verdict
        outcome.equal = lambda *_: True
        outcome.first_difference = lambda *_: None
        outcome.difference = grade.difference_of = lambda *_: None
        grade.grade = lambda *_, **__: verdict.Verdict("passed", "Every check passed.")
        """,
    "patches NumPy's comparisons": """
        import numpy as np
        np.allclose = np.array_equal = lambda *_, **__: True
        """,
    "answers with an array that equals everything": """
        import numpy as np
        class Agreeable(np.ndarray):
            def __eq__(self, other):
                return np.ones(self.shape, bool)
            def __array_function__(self, *_):
                return True
        def softmax(scores):
            return scores.view(Agreeable)
        """,
    "answers with an object that equals everything": """
        class Agreeable:
            shape = property(lambda self: self)
            def __eq__(self, other):
                return True
            def __getattr__(self, name):
                return self
        def softmax(scores):
            return Agreeable()
        """,
    "leaves with exit code 0": "import os\nos._exit(0)\n",
    "leaves in the middle of a call": "def softmax(scores):\n    import os\n    os._exit(0)\n",
    "leaves at the end by atexit": "import atexit, os\natexit.register(os._exit, 0)\n",
    "reaches into the caller's frames": """
        import sys
        frame = sys._getframe()
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if hasattr(value, "__dict__"):
                    for name in ("status", "passed", "owner", "attempts"):
                        try:
                            setattr(value, name, "passed")
                        except Exception:
                            pass
            frame = frame.f_back
        """,
    "imports the solution": "from regard.course.exercises.e01_softmax.solution import softmax\n",
    "imports an alternative by a hidden name": """
        softmax = __import__("importlib").import_module("regard.course.exercises.e01_" + "softmax.alternatives").shifted
        """,
    "imports the reference": "from regard.course.exercises.e01_softmax import check\nsoftmax = check.softmax\n",
    "reads the solution's text": """
        import regard
        from pathlib import Path
        home = Path(regard.__file__).parent / "course" / "exercises" / "e01_softmax"
        exec((home / "solution.py").read_text())
        """,
    "reads the solution from its folder": """
        import os
        os.chdir(HOME)
        import tempfile, sys
        place = tempfile.mkdtemp()
        with open("solution.py") as answer, open(place + "/borrowed.py", "w") as copy:
            copy.write(answer.read())
        sys.path.append(place)
        from borrowed import softmax
        """,
    "reads the solution through /proc": "exec(open('/proc/self/root' + HOME + '/solution.py').read())\n",
    "reads the solution through a link": """
        import os
        os.symlink(HOME, "elsewhere")
        exec(open("elsewhere/solution.py").read())
        """,
    "reads the solution below a descriptor": """
        import os
        opened = os.open("solution.py", os.O_RDONLY, dir_fd=os.open(HOME, os.O_PATH))
        exec(os.read(opened, 100_000))
        """,
    "reads the solution with another program": """
        import subprocess
        exec(subprocess.check_output(["cat", HOME + "/solution.py"]))
        """,
    "makes another name for the solution": """
        import os
        os.link(HOME + "/solution.py", "mine.txt")
        exec(open("mine.txt").read())
        """,
    "finds the solution in memory": """
        import sys, gc
        found = [value for name, module in list(sys.modules.items()) if "exercises" in name
                 for value in vars(module).values() if getattr(value, "__name__", "") == "softmax"]
        softmax = found[0] if found else None
        """,
    "ends the grader": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
    "writes into the grader's memory": """
        import os
        with open(f"/proc/{os.getppid()}/mem", "r+b", buffering=0) as memory:
            memory.seek(0)
        open("reached", "w").close()
        """,
}


def whole(text: str) -> str:
    """The file of a forger; one who forges only has a wrong softmax besides."""
    text = f"HOME = {str(HOME / 'e01_softmax')!r}\n{dedent(text)}"
    defines = re.search(r"^(def softmax|softmax = |from \S+ import softmax|exec)", text, flags=re.MULTILINE)
    return text if defines else text + WRONG


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forged_file_passes(write: Write, name: str) -> None:
    """In a grader of its own: one that were ended would not end the tests."""
    path = write(whole(FORGERIES[name]))
    code = (
        "import sys, pathlib; from regard.course.catalogue import find; from regard.course.process import Grader;"
        "from regard.course.confinement import hide_memory; hide_memory();"
        "grader = Grader(find('softmax')); print('VERDICT', grader.grade(pathlib.Path(sys.argv[1])).status);"
        "grader.close()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert "VERDICT" in done.stdout, done.stderr
    assert "passed" not in done.stdout
    assert not path.with_name("reached").exists()


def test_a_file_that_changes_the_package_is_found_out(write: Write, tmp_path: Path) -> None:
    """With Landlock it cannot write there; without, the verdict says so and the class's grading ends."""
    target = HOME / "e01_softmax" / "written_by_a_test"
    good = find("softmax").solution
    place = tmp_path / "eve" / find("softmax").name
    place.mkdir(parents=True)
    (place / "exercise.py").write_text(f"{good}\n\nopen({str(target)!r}, 'w').close()\n", encoding="utf-8")
    try:
        (graded,) = grade_class(tmp_path, only=find("softmax"))
    finally:
        target.unlink(missing_ok=True)
    assert not graded.verdicts[find("softmax").name].passed


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_a_file_cannot_leave_notes_in_shared_memory(write: Write) -> None:
    """/dev/shm is memory that other learners' files could read; /dev/null stays open."""
    note = Path("/dev/shm") / f"regard-{os.getpid()}"
    attack = f"""
open("/dev/null", "w").write("nothing")
try:
    open({str(note)!r}, "w").write("the answer")
except OSError:
    pass
"""
    entry = find("softmax")
    try:
        assert grade_file(entry, write(entry.solution + attack)).passed
        assert not note.exists()
    finally:
        note.unlink(missing_ok=True)


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_a_file_cannot_write_into_another_learner_s_folder(tmp_path: Path) -> None:
    """Also where the class lies in the folder for temporary files; its own temporary folder is gone afterwards."""
    entry = find("softmax")
    for name in ("anna", "bob"):
        (tmp_path / name / entry.name).mkdir(parents=True)
        (tmp_path / name / entry.name / "exercise.py").write_text(entry.solution, encoding="utf-8")
    victim = tmp_path / "bob" / entry.name / "exercise.py"
    attack = f"""
import pathlib, tempfile
held = tempfile.mkdtemp()
pathlib.Path("held.txt").write_text(held)
try:
    pathlib.Path({str(victim)!r}).write_text("gone")
except OSError:
    pass
"""
    (tmp_path / "anna" / entry.name / "exercise.py").write_text(entry.solution + attack, encoding="utf-8")
    anna, bob = grade_class(tmp_path, only=entry)
    assert anna.verdicts[entry.name].passed
    assert bob.verdicts[entry.name].passed
    assert victim.read_text(encoding="utf-8") == entry.solution
    assert not Path((tmp_path / "anna" / entry.name / "held.txt").read_text()).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_a_file_that_is_a_link_does_not_open_the_folder_it_leads_to(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    (other / "exercise.py").write_text(f"open({str(other / 'reached')!r}, 'w').close()\n", encoding="utf-8")
    (mine / "exercise.py").symlink_to(other / "exercise.py")
    assert "PermissionError" in grade_file(find("softmax"), mine / "exercise.py").headline
    assert not (other / "reached").exists()


def test_nothing_is_unpickled() -> None:
    """The channel's own files import no pickle: whatever a learner's process sends is data."""
    for module in (wire, process):
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        assert "import pickle" not in text
        assert "torch.load" not in text


def test_a_message_that_is_too_long_or_too_deep_is_refused(softmax_entry: ExerciseEntry, write: Write) -> None:
    for message in (
        'b"999999999\\n"',
        'b"40000\\n" + b"[" * 40000',
        'b"30\\n" + b\'{"tree": {}, "sizes": [9000000000]}\'',
    ):
        text = f"""
            import contextlib, os
            for one in range(3, 100):
                with contextlib.suppress(OSError):
                    os.write(one, {message})
            """
        assert grade_file(softmax_entry, write(whole(text))).status == "stopped"


def test_torch_exercises_are_graded_the_same_way(write: Write) -> None:
    entry = find("decoder_step")
    text = "import torch\ntorch.allclose = lambda *_: True\n" + entry.solution.replace("torch.tanh(", "(")
    assert grade_file(entry, write(text)).status == "failed"
