"""The programs that tests start: signals reach them whatever the test runner ignores, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from processes import SIGNALS, completed, default_signals, started, wait_until

SLEEP = "import time; print('ready', flush=True); time.sleep(600)"


@pytest.fixture
def ignored() -> Iterator[None]:
    """As under `nohup make test &`."""
    with default_signals():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        yield


@pytest.mark.usefixtures("ignored")
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_signals_reach_a_program_even_if_the_test_runner_ignores_them(number: signal.Signals) -> None:
    with started([sys.executable, "-c", SLEEP], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait() == -number


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_nothing_outlives_its_test() -> None:
    """The program ignores every signal it can; so do its children, one of which leaves the process group."""
    code = f"""
import signal, subprocess, sys
for number in {[int(number) for number in SIGNALS]}:
    signal.signal(number, signal.SIG_IGN)
for session in (False, True):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=session)
    print(child.pid, flush=True)
child.wait()
"""
    with started([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        children = [int(process.stdout.readline()) for _ in range(2)]
    assert process.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while any(_runs(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [child for child in children if _runs(child)]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux kills a program with its parent")
def test_programs_end_with_a_killed_test_runner() -> None:
    tests = str(Path(__file__).parent)
    code = f"""
import sys, time
sys.path.insert(0, {tests!r})
from processes import launch
print(launch([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
time.sleep(600)
"""
    with started([sys.executable, "-c", code], stdout=subprocess.PIPE) as runner:
        child = int(runner.stdout.readline())
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
        deadline = time.monotonic() + 10
        while _runs(child) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not _runs(child)


def test_a_hanging_program_is_killed() -> None:
    assert completed([sys.executable, "-c", SLEEP], seconds=1.0).returncode == -signal.SIGKILL
    with (
        started([sys.executable, "-c", SLEEP], seconds=0.5, stdout=subprocess.DEVNULL) as process,
        pytest.raises(AssertionError, match="ended with code -9 before it was done"),
    ):
        wait_until(lambda: False, process, "it was done")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False
