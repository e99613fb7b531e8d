"""Kill a training run at many points, resume it, and compare.

Run as a program with a folder and a number of kills. Every run is a forked process that counts its file
operations and is killed at the n-th, or after some time.
"""

import os
import shutil
import signal
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from chaos.operations import Operation, watch
from regard.plot import Series, curves, save
from regard.text.input_error import InputError
from regard.training.run import train
from training.tiny import entries, equal, tiny, weights

FINISHED, BROKEN = 0, 5
GOLDEN = (1 + 5**0.5) / 2
RECIPE = tiny(
    model={"dropout": 0.2, "embedding_dropout": 0.1},
    train={
        "steps": 7, "validate_every": 3, "checkpoint_every": 2, "average": 2, "teacher_forcing": 0.5, "accumulate": 2,
        "schedule": "plateau", "plateau_patience": 0,
    },
)  # fmt: skip


def kill_at(moment: int, counted: Path) -> None:
    """Arrange to be killed at a file operation; with 0, the file `counted` gets how many there were."""
    seen = 0

    def listener(operation: Operation) -> None:
        nonlocal seen
        seen += 1
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        if moment == 0:
            counted.write_text(str(seen))

    watch(counted.parent, listener)


def run(folder: Path, resume: bool, moment: int | None = None, seconds: float = 0.0) -> int:
    """The exit status of a process that trains and is killed at a file operation, or after some seconds."""
    child = os.fork()
    if child:
        if seconds:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = BROKEN
    try:
        if moment is not None:
            kill_at(moment, folder.parent / "count")
        train(RECIPE, folder, resume=resume)
        status = FINISHED
    except InputError as error:
        sys.stderr.write(f"{error}\n")
    finally:
        os._exit(status)


def begun(folder: Path) -> bool:
    """Whether there is a run to resume; one that was stopped before its recipe was written starts again."""
    return (folder / "recipe.json").exists()


def losses(folder: Path) -> list[tuple[int, float]]:
    return [(entry["step"], entry["loss"]) for entry in entries(folder, "step")]


def compare(folder: Path, whole: Path, what: str) -> None:
    """Raise unless a stopped and resumed run equals an uninterrupted one."""
    for name in ("last", "best"):
        assert equal(weights(folder, name), weights(whole, name)), f"{what}: {name}/ differs"
    for name in ("last/training.safetensors", "recipe.json"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), f"{what}: {name} differs"
    assert losses(folder) == losses(whole), f"{what}: the journal differs"
    assert (folder / "curve.png").exists(), f"{what}: no curve"
    ours, theirs = ({str(path.relative_to(place)) for path in place.rglob("*")} for place in (folder, whole))
    assert ours == theirs, f"{what}: {ours ^ theirs} left behind or missing"


def kill_all(root: Path, kills: int, seconds: float = float("inf"), seed: int = 7) -> dict[str, object]:
    """Kill runs once or twice each, resume them, and compare; returns the figures. Raises if a run differs."""
    torch.set_num_threads(1)  # a forked process cannot use the threads of its parent
    random, deadline = Random(seed), time.monotonic() + seconds
    whole = root / "whole" / "run"
    whole.parent.mkdir(parents=True)
    # What takes long to import is imported once, not in every process.
    save(curves(Series.of("loss", [1, 2], [2.0, 1.0])), root / "warm.png")
    torch.use_deterministic_algorithms(True)
    began = time.perf_counter()
    assert run(whole, resume=False, moment=0) == FINISHED
    took, total = time.perf_counter() - began, int((whole.parent / "count").read_text())
    outcomes: Counter[int] = Counter()
    for number in count():
        if outcomes[-signal.SIGKILL] >= kills or time.monotonic() > deadline:
            break
        folder = root / str(number) / "run"
        folder.parent.mkdir()
        first = 1 + int(total * (number / GOLDEN % 1.0))  # spread evenly, however many there will be
        timed = number % 4 == 3
        for moment in (first, random.randrange(1, total)):
            if timed:
                outcomes[run(folder, resume=begun(folder), seconds=random.uniform(0, took))] += 1
            else:
                outcomes[run(folder, resume=begun(folder), moment=moment)] += 1
        for _ in range(2 if number == 0 else 1):  # the second time there is nothing left to do
            assert run(folder, resume=begun(folder)) == FINISHED, f"moment {first}: cannot go on"
        compare(folder, whole, f"moment {first} of {total}")
        shutil.rmtree(folder.parent)
    assert BROKEN not in outcomes, outcomes
    killed = outcomes[-signal.SIGKILL]
    return {"operations": total, "kills": killed, "runs": number, "ended_before_their_kill": outcomes[FINISHED]}


if __name__ == "__main__":
    sys.stdout.write(f"{kill_all(Path(sys.argv[1]), int(sys.argv[2]))}\n")
