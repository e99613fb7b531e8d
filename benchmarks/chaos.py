"""Faults of file operations, killed training runs, power losses: checks messages, lost data and files left behind.

    python benchmarks/chaos.py [--faults 500] [--kills 200] [--images 500] [--seconds 3600] [--out FILE.json]

A fault is one file operation that fails (ENOSPC, EIO, EACCES, a short write, or a disk that stays full) in train,
translate, align, plot, the data cache or `data get`: the command must end with one message and lose nothing, and the
next one must succeed and leave nothing behind. A kill is SIGKILL at a file operation or a random moment of a training
run, which is then resumed and must end with the weights of an uninterrupted one, to the bit. A power loss is a prefix
of a run's operations of which those that were not synced are dropped (tests/chaos/power.py). `--seconds` limits each of
the three. The harness is in tests/chaos, `make test` runs a few of each.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
PARTS = ("faults", "kills", "images")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for part, count in zip(PARTS, (500, 200, 500), strict=True):
        options.add_argument(f"--{part}", type=int, default=count)
    options.add_argument("--seconds", type=float, default=3600.0)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--out", type=Path, default=Path("docs/results/chaos.json"))
    options.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.part:
        print(json.dumps(run(given.part, getattr(given, given.part), given.seconds, given.seed)))
        return
    record: dict[str, object] = {}
    for part in PARTS:  # each in a child process, so that they share no imports or settings
        if getattr(given, part):
            record[part] = measure(part)
    from torch import device

    from regard.lab.machine import describe_machine

    record = {**describe_machine(device("cpu")), "seed": given.seed, **record}
    given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


def measure(part: str) -> dict[str, object]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *sys.argv, "--part", part], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": round(time.monotonic() - began)}


def run(part: str, count: int, seconds: float, seed: int) -> dict[str, object]:
    sys.path.insert(0, str(TESTS))
    from chaos.faults import inject_all
    from chaos.power import lose_power
    from training.stopped import kill_all

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "chaos"
        root.mkdir()
        work = {"faults": inject_all, "kills": kill_all, "images": lose_power}[part]
        return work(root, count, seconds, seed)


if __name__ == "__main__":
    main()
