"""Whatever a learner's file does, a verdict comes back in time and nothing is left running."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from regard.course import learner_channel, process
from regard.course.catalogue import ExerciseEntry, entries, find
from regard.course.descendants import marked
from regard.course.process import Grader
from regard.course.session import Session
from regard.course.verdict import Verdict

Write = Callable[[str], Path]

GOOD = """
import numpy as np

def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
"""


def quick(entry: ExerciseEntry, seconds: float = 1.5) -> ExerciseEntry:
    return replace(entry, seconds=seconds)


def graded(entry: ExerciseEntry, path: Path) -> Verdict:
    """Grade, and hold that no process with the run's mark survives."""
    with Grader(entry) as grader:
        verdict = grader.grade(path)
        assert marked(grader.channel.mark) == set()
    return verdict


def test_a_right_file_passes(softmax_entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(softmax_entry, write(GOOD))
    assert verdict.passed
    assert verdict.checks > 50
    assert "800" in verdict.headline


def test_an_endless_loop_is_stopped_and_its_line_named(softmax_entry: ExerciseEntry, write: Write) -> None:
    path = write("def softmax(scores):\n    while True:\n        scores = scores + 0\n")
    began = time.monotonic()
    verdict = graded(quick(softmax_entry), path)
    assert time.monotonic() - began < 8
    assert verdict.status == "stopped"
    assert "still running after 1.5 s" in verdict.headline
    assert "line 3:  scores = scores + 0" in verdict.details[0] or "line 2:  while True:" in verdict.details[0]


def test_an_endless_loop_on_import_that_ignores_signals(softmax_entry: ExerciseEntry, write: Write) -> None:
    path = write("""
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            try:
                time.sleep(100)
            except BaseException:
                pass
    """)
    assert graded(quick(softmax_entry), path).status == "stopped"


def test_a_forked_copy_has_no_say_and_is_ended(softmax_entry: ExerciseEntry, write: Write) -> None:
    path = write("import os, time\nif os.fork() == 0:\n    time.sleep(1000)\n" + GOOD)
    verdict = graded(softmax_entry, path)
    assert verdict.passed
    assert "left 1 process running; I ended" in verdict.notes[0]


def test_a_forked_copy_that_grades_too(softmax_entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(softmax_entry, write("import os\nos.fork()\n" + GOOD))
    assert verdict.passed


def test_a_daemon_that_left_the_group_is_found(softmax_entry: ExerciseEntry, write: Write) -> None:
    path = write(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        time.sleep(0.3)
        """
        + GOOD.replace("\n", "\n        ")
    )
    verdict = graded(softmax_entry, path)
    assert verdict.passed
    assert any("process" in note for note in verdict.notes)


def test_a_program_that_hides_its_environment_is_found(softmax_entry: ExerciseEntry, write: Write) -> None:
    """Another session, no mark to be found by, and its parent gone: it has become our child."""
    hidden = "import subprocess\nsubprocess.Popen(['sleep', '4321'], env={}, start_new_session=True)\n"
    verdict = graded(softmax_entry, write(hidden + GOOD))
    assert verdict.passed
    assert "left 1 process running; I ended" in verdict.notes[0]
    assert not running("sleep", "4321")


def running(*command: str) -> bool:
    wanted = "\0".join([*command, ""]).encode()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                if (place / "cmdline").read_bytes() == wanted:
                    return True
    return False


def test_a_fork_bomb_is_stopped(softmax_entry: ExerciseEntry, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner_channel, "MOST_PROCESSES", 8)
    monkeypatch.setattr(process, "MOST_PROCESSES", 8)
    path = write("""
        import os, time
        for _ in range(5):
            os.fork()
        time.sleep(1000)
    """)
    verdict = graded(softmax_entry, path)
    assert verdict.status == "stopped"
    assert "more than 8 processes" in verdict.headline


def test_megabytes_of_print_are_stopped(softmax_entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(softmax_entry, write("while True:\n    print('x' * 10000)\n"))
    assert verdict.status == "stopped"
    assert "more than a megabyte" in verdict.headline
    assert len(verdict.printed) < 3000


def test_some_print_is_shown(softmax_entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(softmax_entry, write("print('look:', 42)\n" + GOOD))
    assert verdict.passed
    assert verdict.printed == "look: 42\n"


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("import sys\nsys.exit(0)\n", "called exit"),
        ("import os\nos._exit(0)\n", "ended the whole process (exit code 0)"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "crashed Python itself (SIGSEGV)"),
        ("input('name? ')\n", "asked for keyboard input"),
        ("raise KeyboardInterrupt\n", "raised KeyboardInterrupt"),
        (
            "import nonsense_that_is_not_there\n",
            "raised ModuleNotFoundError: No module named 'nonsense_that_is_not_there'",
        ),
        ("def softmax(scores):\n    return softmax(scores)\n", "raised RecursionError"),
        ("def softmax(scores):\n    raise SystemExit\n", "softmax() called exit"),
        ("import sys\nsys.stdout.close()\nsys.exit()\n", "called exit"),
        ("def softmax(scores):\n    a = []\n    a.append(a)\n    return a\n", "softmax() raised RecursionError"),
        ("softmax = 3\n", "`softmax` in your file is a int, wanted a function"),
        ("softmax = None\n", "`softmax` in your file is a NoneType, wanted a function"),
        ("def soft_max(scores):\n    return scores\n", "There is `soft_max`: did you rename it?"),
        ("x = 1\n", "Put the starter's `def` back"),
        ("def softmax(scores, axis):\n    return scores\n", "must take the parameters of the starter: (scores)"),
        ("def softmax(scores):\n    scores / 2\n", "None: did you forget `return`?"),
        ("", "exercise.py is empty"),
        ("def softmax(scores:\n", "Python cannot read your file yet"),
        ("def softmax(scores):\nreturn 1\n", "expected an indented block"),
        (
            "import numpy as np\ndef softmax(scores):\n    return np.full(scores.shape, 'a')\n",
            "Weights: dtype <U1, wanted float64",
        ),
        ("def softmax(scores):\n    return scores.astype(complex)\n", "Weights: dtype complex128, wanted float64"),
        (
            "import numpy as np\ndef softmax(scores):\n    return np.full(scores.shape, None)\n",
            "Weights: dtype object, wanted float64",
        ),
        (
            "import numpy as np\ndef softmax(scores):\n    return np.ma.masked_array(scores)\n",
            "Weights: a NumPy MaskedArray, wanted a NumPy array",
        ),
        (
            "class Odd(Exception):\n    def __str__(self):\n        raise Odd\ndef softmax(scores):\n    raise Odd\n",
            "softmax() raised Odd",
        ),
    ],
)
def test_each_way_to_be_unready_is_put_into_words(
    softmax_entry: ExerciseEntry, write: Write, text: str, headline: str
) -> None:
    verdict = graded(softmax_entry, write(text))
    assert headline in verdict.headline
    assert not verdict.passed
    assert not verdict.printed.replace("name? ", "")


def test_binary_rubbish_and_missing_files(softmax_entry: ExerciseEntry, tmp_path: Path) -> None:
    path = tmp_path / "exercise.py"
    assert graded(softmax_entry, path).status == "missing"
    path.write_bytes(b"\xff\xfe\x00rubbish")
    assert graded(softmax_entry, path).half
    path.write_bytes(b"def f(:\n\x00")
    assert graded(softmax_entry, path).half


def test_a_long_message_is_cut(softmax_entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(softmax_entry, write("raise ValueError('x' * 5_000_000)\n"))
    assert verdict.headline.startswith("Running your file raised ValueError: xxx")
    assert len(verdict.headline) < 400


def test_a_folder_that_is_gone(softmax_entry: ExerciseEntry, tmp_path: Path) -> None:
    with Grader(softmax_entry) as grader:
        verdict = grader.grade(tmp_path / "gone" / "exercise.py")
    assert verdict.status == "missing"
    assert "exercise.py is not there" in verdict.headline
    assert not verdict.printed


def test_what_is_no_source_is_not_read(softmax_entry: ExerciseEntry, tmp_path: Path) -> None:
    path = tmp_path / "exercise.py"
    os.mkfifo(path)
    assert "exercise.py is not a regular file" in graded(softmax_entry, path).headline
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**32)
    assert "4295 MB" in graded(softmax_entry, path).headline


@pytest.mark.parametrize(
    "rubbish", [b"rubbish\n", b"3\n", b'{"verdict": 3}\n', b'{"busy": 3}\n', b"\xff\n", b"half a line"]
)
def test_rubbish_in_the_channel_is_no_verdict(softmax_entry: ExerciseEntry, write: Write, rubbish: bytes) -> None:
    """A file that writes into every descriptor it finds."""
    path = write(f"""
import contextlib, os
for one in range(3, 200):
    with contextlib.suppress(OSError):
        os.write(one, {rubbish!r})
{GOOD}""")
    verdict = graded(softmax_entry, path)
    assert verdict.status == "stopped"
    assert "wrote into the channel" in verdict.headline


def test_a_file_gains_no_time_by_being_busy(softmax_entry: ExerciseEntry, write: Write) -> None:
    path = write("from regard.course.waiting import busy\nwhile True:\n    busy('resting', 0, 1)\n")
    verdict = graded(quick(softmax_entry), path)
    assert verdict.status == "stopped"
    assert "still running after 1.5 s" in verdict.headline


def test_a_file_that_spoils_numpy_spoils_it_for_itself_only(softmax_entry: ExerciseEntry, write: Write) -> None:
    spoiled = "import numpy as np\nnp.empty_like = np.allclose = np.array_equal = None\n"
    assert graded(softmax_entry, write(spoiled + GOOD)).passed
    verdict = graded(softmax_entry, write(spoiled + GOOD.replace("axis=-1", "axis=0")))
    assert not verdict.passed


def test_a_module_of_the_learner_never_shadows_the_library(
    softmax_entry: ExerciseEntry, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "random.py").write_text("raise RuntimeError('shadowed')\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('shadowed')\n")
    (tmp_path / "my_part.py").write_text("from numpy import exp\n")
    path = write("import random, json\nfrom my_part import exp\n" + GOOD)
    assert graded(softmax_entry, path).passed


def test_too_much_memory_is_an_error_of_the_file(softmax_entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(softmax_entry, write("import numpy as np\nkeep = np.ones(2 * 10**9)\n"))
    assert verdict.status == "broken"
    assert "MemoryError" in verdict.headline or "allocate" in verdict.headline


@pytest.mark.parametrize(
    ("exercise", "head"), [("softmax", "def softmax(scores):"), ("packing", "def pad(sentences):")]
)
def test_memory_that_grows_without_end_is_reported_as_that(
    exercise: str, head: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (learner_channel, process):
        monkeypatch.setattr(module, "MOST_RESIDENT_BYTES", 8 * 10**8)
    rest = "" if exercise == "softmax" else "def encode(gru, embedded, lengths):\n    return embedded\n"
    path = write(f"{rest}{head}\n    kept = []\n    while True:\n        kept.append(bytes(10**7) + b'x')\n")
    verdict = graded(find(exercise), path)
    assert verdict.status == "stopped"
    assert "GB of memory (the limit is 0.8 GB)" in verdict.headline
    assert "endless" not in verdict.headline
    assert "kept.append(" in verdict.details[0]


def test_memory_is_named_where_the_time_is_up_first(softmax_entry: ExerciseEntry, write: Write) -> None:
    """A busy machine may need the whole time to hand out the memory."""
    path = write("kept = bytes(12 * 10**8) + b'x'\nwhile True:\n    pass\n")
    verdict = graded(quick(softmax_entry, 4.0), path)
    assert "1.2 GB of memory (the limit is 2 GB)" in verdict.headline


def test_a_forbidden_amount_of_memory_is_explained(softmax_entry: ExerciseEntry, write: Write) -> None:
    path = write("import numpy as np\ndef softmax(scores):\n    return np.zeros((10**6, 10**6))\n")
    assert "far larger than the inputs" in graded(softmax_entry, path).advice


def test_a_spare_that_nobody_needs_ends(softmax_entry: ExerciseEntry) -> None:
    grader = Grader(softmax_entry)
    grader.close()
    assert grader.channel.process.returncode is not None
    assert marked(grader.channel.mark) == set()


def test_a_spare_may_wait_long(softmax_entry: ExerciseEntry, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner_channel, "LOADING_SECONDS", 2.0)
    with Grader(softmax_entry) as grader:
        grader.channel.wait_until_ready(30.0)
        grader.channel.started -= 3600
        assert grader.grade(write(GOOD)).passed


def test_a_spare_that_died_is_replaced(tmp_path: Path) -> None:
    session = Session(tmp_path / "course")
    session.folder.file(session.current).write_text(GOOD)
    session.prepare()
    assert session.spare is not None
    session.spare.channel.process.kill()
    session.spare.channel.process.wait()
    assert session.grade().passed
    session.close()


def test_the_learner_s_time_starts_when_torch_is_loaded(write: Write) -> None:
    """A torch exercise with less time than torch takes to load still gets its verdict."""
    entry = replace(find("packing"), seconds=1.0)
    verdict = graded(entry, write(entry.starter))
    assert verdict.status == "unfinished"


@pytest.mark.parametrize("entry", entries()[:5], ids=lambda entry: entry.name)
def test_solutions_pass_as_files_in_their_own_process(entry: ExerciseEntry, write: Write) -> None:
    verdict = graded(entry, write(entry.solution))
    assert verdict.passed, verdict
