"""Stop + resume = uninterrupted, to the bit: after a kill, a full disk or Ctrl-C at any point."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest

from course.terminal import Terminal
from processes import completed, default_signals, started, wait_until
from regard.bundle.store import load_bundle
from regard.text.input_error import InputError
from regard.training import run, setup
from regard.training.interrupt import Interrupt
from regard.training.journal import Event, Stepped, read_journal
from regard.training.run import train

from .tiny import contents, entries, equal, stopped, tiny, weights


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Make Ctrl-C reach this process even if the test runner ignores it."""
    with default_signals():
        yield


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kills", [5, pytest.param(40, marks=pytest.mark.long)])
def test_a_run_killed_at_any_time_resumes_to_the_same_bits(kills: int, tmp_path: Path) -> None:
    program = Path(__file__).with_name("stopped.py")
    done = completed([sys.executable, program, tmp_path / "runs", str(kills)], seconds=600)
    assert done.returncode == 0, done.stderr[-2000:]
    killed = re.search(r"'kills': (\d+)", done.stdout)
    assert killed is not None
    assert int(killed[1]) >= kills, "a run that was killed twice counts twice"


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A run of the real command that takes long enough to be interrupted."""
    small = ["data.train=200", "data.dev=4", "train.validate_every=20000", "train.epochs=2000", "train.threads=1"]
    sizes = ["model.embedding=6", "model.encoder_units=6", "model.decoder_units=6", "train.teacher_forcing=0.5"]
    changes = [word for one in (*small, *sizes) for word in ("--set", one)]
    start = [sys.executable, "-c", "from regard.cli.main import main; main()"]
    return [*start, "train", "reverse", *changes, "--deterministic", "--out", str(tmp_path / "a run")]


def journal(folder: Path) -> list[dict[str, object]]:
    return read_journal(folder / "journal.jsonl")


def steps(folder: Path) -> int:
    return len(entries(folder, "step"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_saves_a_checkpoint_and_prints_the_command_to_resume(
    number: signal.Signals, command: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "a run"
    with started(command, stdout=PIPE, stderr=PIPE, text=True) as process:
        wait_until(lambda: steps(folder) >= 4, process, "it trained")
        process.send_signal(number)
        if number == signal.SIGHUP:  # from the shell and again from the system, when a terminal is closed
            process.send_signal(number)
        _, errors = process.communicate()
    assert process.returncode == 130, errors
    step = journal(folder)[-1]["step"]
    last = errors.strip().splitlines()[-1]
    assert last.startswith(
        f"interrupted at step {step}; saved. Continue with: regard train reverse --set data.train=200"
    )
    words = shlex.split(last.partition("Continue with: ")[2])
    assert words == ["regard", *command[3:], "--resume"]
    assert [entry["event"] for entry in journal(folder)][-2:] == ["step", "finished"]
    assert load_bundle(folder / "last").manifest.trained["steps"] == step


def test_a_signal_that_is_ignored_at_the_start_stays_ignored(command: list[str], tmp_path: Path) -> None:
    """`nohup regard train` survives its terminal; Ctrl-C in a script's terminal does not reach its background jobs."""
    folder = tmp_path / "a run"
    with started(command, ignore=[signal.SIGINT, signal.SIGHUP], stdout=PIPE, stderr=PIPE) as process:
        wait_until(lambda: steps(folder) >= 4, process, "it trained")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        before = steps(folder)
        wait_until(lambda: steps(folder) >= before + 4, process, "it went on")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 130
    assert journal(folder)[-1]["reason"] == "interrupted"


def test_a_closed_log_pipe_does_not_end_a_run(command: list[str], tmp_path: Path) -> None:
    """`regard train 2>&1 | tee log` in a terminal that is closed: `tee` may end first."""
    folder = tmp_path / "a run"
    talkative = [word.replace("validate_every=20000", "validate_every=2") for word in command]
    with started(talkative, stdout=PIPE, stderr=PIPE) as process:
        wait_until(lambda: steps(folder) >= 4, process, "it trained")
        process.stderr.close()
        before = steps(folder)
        wait_until(lambda: steps(folder) >= before + 4, process, "it went on")
        process.send_signal(signal.SIGHUP)
        assert process.wait() == 130
    assert journal(folder)[-1]["reason"] == "interrupted"
    assert load_bundle(folder / "last").manifest.trained["steps"] == journal(folder)[-1]["step"]


def test_a_closed_terminal_ends_a_run_that_was_saved(command: list[str], tmp_path: Path) -> None:
    """Writing to a closed terminal fails, and must not keep the run from saving."""
    folder = tmp_path / "a run"
    terminal = Terminal(command, tmp_path)
    try:
        terminal.wait_for("training", seconds=60)
        wait_until(lambda: steps(folder) >= 4, terminal.process, "it trained")
        terminal.hang_up()
        assert terminal.process.wait(timeout=120) == 130
    finally:
        terminal.close()
    assert [entry["event"] for entry in journal(folder)][-2:] == ["step", "finished"]
    assert load_bundle(folder / "last").manifest.trained["steps"] == journal(folder)[-1]["step"]


def test_an_interrupted_run_resumes_to_the_same_bits(tmp_path: Path) -> None:
    recipe = tiny(model={"dropout": 0.2}, train={"teacher_forcing": 0.5, "steps": 9})

    def stop(event: Event) -> None:
        if isinstance(event, Stepped) and event.step in (2, 5):
            os.kill(os.getpid(), signal.SIGINT)

    train(recipe, tmp_path / "whole")
    reasons = [train(recipe, tmp_path / "run", resume=resume, listener=stop).reason for resume in (False, True, True)]
    assert reasons == ["interrupted", "interrupted", "steps"]
    assert equal(weights(tmp_path / "run"), weights(tmp_path / "whole"))


def test_ctrl_c_with_the_last_step_lets_the_run_finish(tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, Stepped) and event.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    assert train(tiny(train={"steps": 3}), tmp_path / "run", listener=stop).reason == "steps"


class Late(Interrupt):
    """Ctrl-C at the worst time: every second read of `requested` is True."""

    looks = 0

    @property
    def requested(self) -> bool:
        self.looks += 1
        return self.looks % 2 == 0

    @requested.setter
    def requested(self, value: bool) -> None:
        pass


def test_a_run_never_ends_without_having_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "Interrupt", Late)
    result = train(tiny(), tmp_path / "run")
    assert result.reason == "interrupted"
    assert load_bundle(tmp_path / "run" / "last").manifest.trained["steps"] == result.progress.step


def test_a_second_ctrl_c_acts_at_once() -> None:
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_is_installed_only_where_the_signal_is_not_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGHUP)
        assert not interrupt.requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.requested
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("stage", ["set_up", "dry_run", "load_checkpoint"])
def test_an_interrupt_before_the_first_step_changes_nothing(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tiny(train={"steps": 4, "checkpoint_every": 2})
    stopped(recipe, tmp_path / "run", 3)
    before = contents(tmp_path / "run")

    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run, stage, interrupt)
        for options in ({"overwrite": True}, {"resume": True}):
            if stage != "load_checkpoint" or "resume" in options:
                with pytest.raises(KeyboardInterrupt):
                    train(recipe, tmp_path / "run", **options)
        if stage != "load_checkpoint":
            with pytest.raises(KeyboardInterrupt):
                train(recipe, tmp_path / "new")
    assert contents(tmp_path / "run") == before
    assert not (tmp_path / "new").exists()
    assert train(recipe, tmp_path / "run", resume=True).steps == 2


def test_files_of_a_killed_averaging_are_removed(tmp_path: Path) -> None:
    """A kill leaves our temporary file and that of safetensors."""
    recipe = tiny(train={"steps": 6, "validate_every": 2, "average": 2})
    folder = stopped(recipe, tmp_path / "run", 3)
    for name in (".tmpcTfXem", "000000003.part"):
        (folder / "average" / name).write_bytes(b"half of the weights")
    train(recipe, folder, resume=True)
    kept = sorted(os.listdir(folder / "average"))
    assert [(name[:9], Path(name).suffix) for name in kept] == [
        ("000000004", ".safetensors"),
        ("000000006", ".safetensors"),
    ]


def test_a_full_disk_ends_the_run_with_one_message_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    recipe = tiny(train={"steps": 9, "checkpoint_every": 2})
    folder = tmp_path / "run"

    def fill(event: Event) -> None:
        if isinstance(event, Stepped) and event.step == 5:
            (folder / "journal.jsonl").rename(folder / "kept")
            (folder / "journal.jsonl").symlink_to("/dev/full")

    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    with pytest.raises(InputError, match=r"cannot write .*journal.jsonl: the disk is full: free some space"):
        train(recipe, folder, listener=fill)
    (folder / "kept").replace(folder / "journal.jsonl")
    assert train(recipe, folder, resume=True).steps == 5, "from the checkpoint of step 4"
    train(recipe, tmp_path / "whole")
    assert equal(weights(folder), weights(tmp_path / "whole"))
