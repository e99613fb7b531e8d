"""Checks that a test run leaves the Python environment as it found it: no file added, changed or removed."""

import os
from pathlib import Path

import pytest


class EnvironmentCheck:
    """A pytest plugin: the run fails if a file below `folder` is not what it was before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before: dict[str, tuple[int, int]] = {}
        self.changed: list[str] = []

    def pytest_sessionstart(self) -> None:
        self.before = self._files()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.changed = self.differences()
        if self.changed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.changed:
            terminalreporter.section("the tests changed the Python environment", red=True)
            for path in self.changed:
                terminalreporter.write_line(path)

    def differences(self) -> list[str]:
        """Files that were added, changed or removed since the run began."""
        return sorted({path for path, _ in self.before.items() ^ self._files().items()})

    def _files(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file."""
        return {
            path: (state.st_size, state.st_mtime_ns)
            for place, _, names in os.walk(self.folder)
            for name in names
            for path, state in [(os.path.join(place, name), os.lstat(os.path.join(place, name)))]
        }
