"""Train, be stopped at many moments, resume, and compare: by a kill, or by a disk that is full.

Run as a program with a folder, "kill" or "fail", and a number of moments. Every run is a forked process that counts
what Python asks of the system (its audit events) and is stopped at the n-th.
"""

import errno
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from regard.plot import Series, curves, save
from regard.text.errors import InputError
from regard.training.run import train
from training.tiny import entries, equal, tiny, weights

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
FINISHED, REFUSED, BROKEN = 0, 3, 5
RECIPE = tiny(
    model={"dropout": 0.2, "embedding_dropout": 0.1},
    train={
        "steps": 7, "validate_every": 3, "checkpoint_every": 2, "average": 2, "teacher_forcing": 0.5, "accumulate": 2,
        "schedule": "plateau", "plateau_patience": 0,
    },
)  # fmt: skip


def stop_at(moment: int, how: str, count: Path) -> None:
    """Arrange to be stopped at a moment; where it never comes, `count` says how many there were."""
    asked = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal asked
        place = str(arguments[0]) if arguments else ""
        if str(count.parent) not in place or str(count) in place:
            return  # imports and fonts
        writes = event in ("os.mkdir", "os.rename") or (event == "open" and int(str(arguments[2])) & WRITES)
        if not (writes if how == "fail" else event == "open" or event.startswith("os.")):
            return
        asked += 1
        if asked == moment and how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if asked == moment and how == "fail":
            raise OSError(errno.ENOSPC, "No space left on device")
        if moment == 0:
            count.write_text(str(asked))

    sys.addaudithook(hook)


def run(folder: Path, resume: bool, moment: int = 0, how: str = "", seconds: float = 0.0) -> int:
    """The exit status of a process that trains and is stopped at a moment, or killed after some seconds."""
    child = os.fork()
    if child:
        if seconds:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = BROKEN
    try:
        if how:
            stop_at(moment, how, folder.parent / "count")
        train(RECIPE, folder, resume=resume)
        status = FINISHED
    except InputError as error:
        status = REFUSED if "the disk is full" in str(error) else BROKEN
        if status == BROKEN:
            sys.stderr.write(f"{error}\n")
    finally:
        os._exit(status)


def begun(folder: Path) -> bool:
    """Whether there is a run to resume; one that was stopped before its recipe was written starts anew."""
    return (folder / "recipe.json").exists()


def losses(folder: Path) -> list[tuple[int, float]]:
    return [(entry["step"], entry["loss"]) for entry in entries(folder, "step")]


def compare(folder: Path, whole: Path, what: str) -> None:
    """A run that was stopped and resumed ended as if nothing had happened."""
    for name in ("last", "best"):
        assert equal(weights(folder, name), weights(whole, name)), f"{what}: {name}/ differs"
    for name in ("last/training.safetensors", "recipe.json"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), f"{what}: {name} differs"
    assert losses(folder) == losses(whole), f"{what}: the journal differs"
    assert (folder / "curve.png").exists(), f"{what}: no curve"
    ours, theirs = ({str(path.relative_to(place)) for path in place.rglob("*")} for place in (folder, whole))
    assert ours == theirs, f"{what}: {ours ^ theirs} left behind or missing"


def main(root: Path, how: str, moments: int) -> None:
    random = Random(7)
    whole = root / "whole" / "run"
    whole.parent.mkdir(parents=True)
    # What takes long to import is imported once, not in every process.
    save(curves(Series.of("loss", [1, 2], [2.0, 1.0])), root / "warm.png")
    torch.use_deterministic_algorithms(True)
    began = time.perf_counter()
    assert run(whole, resume=False, how=how) == FINISHED
    took, total = time.perf_counter() - began, int((whole.parent / "count").read_text())
    outcomes: Counter[int] = Counter()
    for number in range(moments):
        folder = root / str(number) / "run"
        folder.parent.mkdir()
        first = 1 + total * number // moments + random.randrange(max(1, total // moments))
        seconds = random.uniform(0, took) if how == "kill" and number % 4 == 3 else 0.0
        for moment in (first, random.randrange(1, total)):
            if seconds:
                outcomes[run(folder, resume=begun(folder), seconds=seconds)] += 1
            else:
                outcomes[run(folder, resume=begun(folder), moment=moment, how=how)] += 1
        for _ in range(2 if number == 0 else 1):  # the second time there is nothing left to do
            assert run(folder, resume=begun(folder)) == FINISHED, f"moment {first}: cannot go on"
        compare(folder, whole, f"moment {first} of {total}")
    assert BROKEN not in outcomes, outcomes
    sys.stdout.write(f"{total} moments; {dict(outcomes)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
