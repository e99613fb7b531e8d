"""Several workers: the same curve for any number, one writer, and nothing lost at the end."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
import torch

from processes import completed, started, wait_until
from regard.text.input_error import FailedElsewhere, InputError
from regard.training.device import DeviceWarning, pick_device
from regard.training.journal import read_journal
from regard.training.world import World, find_world, join

from .tiny import entries


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_scenarios_with_several_workers(tmp_path: Path) -> None:
    program = Path(__file__).with_name("workers.py")
    done = completed([sys.executable, "-W", "error", program, tmp_path / "scenes"], seconds=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("scene_") == program.read_text(encoding="utf-8").count("\ndef scene_") > 5


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A run of the real command under torchrun that takes long enough to be stopped."""
    small = ["data.train=200", "data.dev=4", "train.validate_every=20000", "train.threads=1", "train.device=cpu"]
    sizes = ["model.embedding=6", "model.encoder_units=6", "model.decoder_units=6", "train.checkpoint_every=5"]
    changes = [word for one in (*small, *sizes, "train.epochs=9999", "train.steps=80") for word in ("--set", one)]
    start = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=1"]
    return [*start, "-m", "regard", "train", "reverse", *changes, "--out", str(tmp_path / "a run")]


def wait_for(folder: Path, events: int, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: len(read_journal(folder / "journal.jsonl")) >= events, process, "it trained")


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that torchrun started, by their ranks."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
    ranks = {}
    for child in children:
        words = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        ranks |= {int(word[5:]): int(child) for word in words if word.startswith(b"RANK=")}
    return [ranks[rank] for rank in sorted(ranks)]


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_torchrun_restarts_a_killed_run_which_resumes(command: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    with started(command, stdout=PIPE, stderr=PIPE, text=True, seconds=240) as process:
        wait_for(folder, 12, process)
        os.kill(workers_of(process)[1], signal.SIGKILL)
        output, errors = process.communicate()
    assert process.returncode == 0, errors[-3000:]
    assert "worker 0 of 2" in errors
    assert "lost the connection to another worker, so the run ends here" in errors
    assert output == f"{folder}\n", "one worker speaks"
    starts = entries(folder, "started")
    assert [entry["workers"] for entry in starts] == [2, 2]
    assert starts[0]["first_step"] == 1 < starts[1]["first_step"]
    steps = [entry["step"] for entry in entries(folder, "step")]
    assert steps == list(range(1, 81))


@pytest.mark.long
def test_ctrl_c_under_torchrun_saves_and_one_worker_prints_the_command_to_resume(
    command: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "a run"
    longer = [word.replace("steps=80", "steps=100000") for word in command]
    with started(longer, stdout=PIPE, stderr=PIPE, text=True, seconds=240) as process:
        wait_for(folder, 5, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    finished = read_journal(folder / "journal.jsonl")[-1]
    assert (finished["event"], finished["reason"]) == ("finished", "interrupted"), errors[-3000:]
    (line,) = [line for line in errors.splitlines() if line.startswith("interrupted at step")]
    words = shlex.split(line.partition("Continue with: ")[2])
    assert words == ["torchrun", "--nproc-per-node=2", *longer[5:], "--resume"]


def test_a_process_that_torchrun_did_not_start_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", "4")  # some schedulers say so to every process
    assert find_world() == World()
    with join() as world:
        assert world.writer
        assert not torch.distributed.is_initialized()
        assert (world.gather("a"), world.broadcast("b"), world.total(0.1), world.any(False)) == (["a"], "b", 0.1, False)
        before = torch.get_rng_state()
        world.seed_step(1, 2)
        assert torch.equal(torch.get_rng_state(), before), "one process alone draws as it always did"


def test_a_worker_reads_its_rank_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {"RANK": 5, "WORLD_SIZE": 8, "LOCAL_RANK": 1, "LOCAL_WORLD_SIZE": 4, "MASTER_ADDR": "elsewhere"}
    for name, value in printed.items():
        monkeypatch.setenv(name, str(value))
    assert find_world() == World(rank=5, size=8, local_rank=1, local_size=4)
    assert not find_world().writer


def test_a_single_worker_raises_the_original_error() -> None:
    with pytest.raises(InputError, match=r"^no such file$") as it, World().fail_together():
        raise InputError("no such file") from FileNotFoundError()
    assert isinstance(it.value.__cause__, FileNotFoundError), "exit codes depend on it"
    with World().fail_together():
        pass
    assert not issubclass(FailedElsewhere, InputError)


@pytest.mark.parametrize(
    ("name", "gpus", "message"),
    [
        ("cuda:1", 4, r"train.device = 'cuda:1' cannot be shared by 2 workers: valid choices are auto, cpu and cuda"),
        ("mps", 0, r"train.device = 'mps' cannot be shared by 2 workers"),
        ("cuda", 0, r"torchrun started 2 workers on .*, where torch finds 0 GPUs: set train.device=cpu$"),
        (
            "auto",
            1,
            r"torchrun started 2 workers on .*, where torch finds 1 GPUs: start one for each \(--.*=1",
        ),
    ],
)
def test_workers_need_a_device_each(name: str, gpus: int, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    with pytest.raises(InputError, match=message):
        pick_device(name, World(rank=1, size=2, local_rank=1, local_size=2))


def test_a_gpu_that_does_not_work_falls_back_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    def fail(*given: object, **options: object) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nCompile with")

    monkeypatch.setattr(torch, "ones", fail)
    with pytest.warns(DeviceWarning, match=r"^the GPU cannot be used \(CUDA error: no kernel .* device\): training on"):
        assert pick_device("auto", World()) == torch.device("cpu")
    with pytest.raises(InputError, match=r"train.device = 'cuda' cannot be used here \(CUDA error"):
        pick_device("cuda", World())


def test_workers_share_the_gpus_of_their_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    second = World(rank=3, size=4, local_rank=1, local_size=2)
    assert pick_device("auto", second) == pick_device("cuda", second) == torch.device("cuda:1")
    assert pick_device("cpu", second) == torch.device("cpu")
