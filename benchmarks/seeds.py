"""Records of benchmarks that run one variant and seed at a time: one file for each, merged into one.

Named TASK-VARIANT-SEED.json; an existing record is not measured again.
"""

import argparse
import json
import math
import statistics
import time
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def parser(about: str | None, tasks: Iterable[str], variant: str, variants: Iterable[str]) -> argparse.ArgumentParser:
    """The commands `run` and `draw`, and the options of all such benchmarks."""
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=["run", "draw"])
    options.add_argument("--task", choices=list(tasks), nargs="+", default=["reverse"])
    options.add_argument(f"--{variant}", dest="variants", choices=list(variants), nargs="+", default=list(variants))
    options.add_argument("--seeds", type=int, nargs="+", default=[0])
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    options.add_argument("--machine", default="")
    return options


def say(text: str) -> None:
    print(f"{time.strftime('%T')} {text}", flush=True)


def leave(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


def gather(results: Path, path: Path, machine: str) -> list[Record]:
    """All records of a folder, also written to `path` as one."""
    records = [json.loads(one.read_text(encoding="utf-8")) for one in sorted(results.glob("*-*-*.json"))]
    leave(path, {"date": date.today().isoformat(), "machine": machine, "runs": records})
    return records


def of_task(records: Sequence[Record], task: str, key: str, names: Iterable[str]) -> dict[str, list[Record]]:
    """A task's records by variant, those that have any."""
    found = {name: [one for one in records if (one["task"], one[key]) == (task, name)] for name in names}
    return {name: some for name, some in found.items() if some}


def spread(values: Sequence[float], form: str = ".1f") -> str:
    """The mean, and the half width of what the seeds span."""
    if not values:
        return "–"
    half = (max(values) - min(values)) / 2
    return f"{statistics.mean(values):{form}}" + ("" if math.isclose(half, 0) else f" ± {half:{form}}")
