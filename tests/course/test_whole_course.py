"""A learner at 80 × 24 in tmux reads each text to its end, makes a mistake, reads the diagnosis, solves and goes on."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.course.catalogue import ExerciseEntry, entries, find

COLUMNS, ROWS = 80, 24
SLOWEST = 600.0
"""Seconds for one verdict: some exercises train."""


class Tmux:
    """A terminal emulator with a program in it, and what a person sees there."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.socket = str(folder / "tmux.sock")
        size = ("-x", str(COLUMNS), "-y", str(ROWS))
        self.run("-f", os.devnull, "new-session", "-d", *size, "-c", str(folder), *command)

    def run(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-S", self.socket, *arguments]
        environment = {**os.environ, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1"}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    def screen(self) -> list[str]:
        lines = self.run("capture-pane", "-p").rstrip("\n").splitlines()
        assert len(lines) <= ROWS
        assert all(len(line) <= COLUMNS for line in lines)
        return lines

    def press(self, key: str) -> None:
        self.run("send-keys", key)

    def wait_for(self, *words: str, seconds: float = 60.0) -> list[str]:
        """The screen, once it is complete (its last line offers the keys) and has all the words."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            lines = self.screen()
            if lines and lines[-1].endswith("q quit") and all(word in "\n".join(lines) for word in words):
                return lines
            time.sleep(0.1)
        raise AssertionError(f"{words} did not come; the screen was:\n" + "\n".join(self.screen()))

    def pages(self, *words: str) -> str:
        """Everything that can be seen by pressing space, from the first page to the last."""
        seen = [self.wait_for(*words)]
        while any("space: next page" in line for line in seen[-1]):
            self.press("Space")
            seen.append(self._changed(seen[-1]))
        return "\n".join(line for page in seen for line in page)

    def _changed(self, before: list[str]) -> list[str]:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if (lines := self.wait_for()) != before:
                return lines
        raise AssertionError("the next page did not come")

    def close(self) -> None:
        self.run("kill-server")


class Learner:
    """Goes through exercises in watch mode."""

    def __init__(self, terminal: Tmux, folder: Path) -> None:
        self.terminal, self.folder = terminal, folder

    def takes(self, entry: ExerciseEntry) -> None:
        terminal = self.terminal
        seen = terminal.pages(f"Exercise {entry.number} of {len(entries())}", "·")
        assert not lost_words(entry.readme, seen)
        self._makes_a_mistake(entry)
        terminal.press("h")
        terminal.wait_for("Hint ", "of 3")
        self._saves(entry, entry.solution)
        terminal.wait_for(f"✓ {entry.number} ", seconds=SLOWEST)
        terminal.press("s")
        assert not lost_words(entry.solution, terminal.pages("Our solution"))
        terminal.press("a")
        assert not lost_words(entry.answers, terminal.pages("Try this"))

    def _makes_a_mistake(self, entry: ExerciseEntry) -> None:
        """Saves the solution with the first named slip in it, and reads the diagnosis."""
        mistake = next((one for one in entry.load().mistakes if one.edits), None)
        if mistake is None:
            return
        text = entry.solution
        for old, new in mistake.edits[0]:
            text = text.replace(old, new)
        assert text != entry.solution
        self._saves(entry, text)
        self.terminal.wait_for("(check:", seconds=SLOWEST)
        assert not lost_words(mistake.message, self.terminal.pages())

    def _saves(self, entry: ExerciseEntry, text: str) -> None:
        (self.folder / entry.name / "exercise.py").write_text(text, encoding="utf-8")


def lost_words(text: str, seen: str) -> list[str]:
    """Words of a text that are nowhere on the screen as a whole; marks of markdown and pictures aside."""
    text = re.sub(r"^```.*?$", "", text, flags=re.MULTILINE)
    wanted, shown = (set(re.sub(r"[*#]", "", one).split()) for one in (text, seen))
    return sorted(wanted - shown)


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Learner]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    path = os.pathsep.join(one for one in sys.path if one)
    variables = (f"PYTHONPATH={path}", f"XDG_CACHE_HOME={tmp_path / 'cache'}")
    terminal = Tmux(tmp_path, "env", *variables, sys.executable, "-P", "-m", "regard", "learn")
    yield Learner(terminal, tmp_path / "regard-course")
    terminal.close()


def test_three_exercises_fit_a_small_terminal(learner: Learner) -> None:
    for number in ("1", "2", "3"):
        learner.takes(find(number))
        learner.terminal.press("n")


@pytest.mark.long
def test_the_whole_course_fits_a_small_terminal(learner: Learner) -> None:
    for entry in entries():
        learner.takes(entry)
        learner.terminal.press("n")
    learner.terminal.wait_for(f"All {len(entries())} exercises pass. You have written attention.")
