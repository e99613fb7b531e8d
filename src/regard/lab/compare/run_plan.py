"""Runs a plan in parallel processes; finished runs are kept, failed ones are reported and skipped."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.bounds import MOST
from regard.bundle.bundle_folder import write_whole
from regard.child import environment, python
from regard.data.splits import check_readable, load_split
from regard.lab.compare.one_run import INTERRUPTED, RESULT, TASK, WARNINGS, Task
from regard.lab.compare.plan import Comparison, Plan, Variant
from regard.reading_files import open_regular, parse_json, read_regular
from regard.text.input_error import InputError
from regard.training.interrupt import Interrupt
from regard.training.recipe import parse_recipe
from regard.training.run_folder import differences, hold_folder

PLAN, LOG = "comparison.json", "log.txt"
PAUSE = 0.2
"""Seconds between two polls of the processes."""


@dataclass(frozen=True)
class Slot:
    """One variant with one seed, and its folder."""

    variant: Variant
    seed: int
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.variant.name}, seed {self.seed}"

    def log(self) -> list[str]:
        """The lines that its processes wrote."""
        try:
            return (self.folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return []

    def warnings(self) -> list[str]:
        """The warnings of its processes, in order; a line that a killed process left unfinished is skipped."""
        found: list[str] = []
        try:
            lines = read_regular(self.folder / WARNINGS).splitlines()
        except (OSError, ValueError):
            return found
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                found.append(str(parse_json(line)["message"]))
        return found

    def result(self) -> dict[str, Any] | None:
        """The result; None if the run is not finished."""
        try:
            found: dict[str, Any] = parse_json(read_regular(self.folder / RESULT, MOST["tokenizer"]))
        except (OSError, ValueError):
            return None
        return found


Show = Callable[[int, Collection[str], float], None]
"""Called with the number of finished runs, the names of those that run, and the share of all optimizer steps done."""


class ComparisonStopped(RuntimeError):
    """The user interrupted the comparison; every run was saved."""


def open_folder(plan: Plan, folder: Path, *, resume: bool) -> list[Slot]:
    """Create or resume the comparison in a folder; raises if the folder holds anything else.

    The data of a new comparison is checked before anything is written.
    """
    if not _begun(folder, plan.comparison, resume=resume):
        for data in {one.recipe.data.model_dump_json(): one.recipe.data for one in plan.variants}.values():
            check_readable(data)
        _check_test_sets(plan)
        with claimed(folder):
            _begun(folder, plan.comparison, resume=resume)  # again: another process may have started here meanwhile
            write_whole(folder / PLAN, plan.comparison.model_dump_json(indent=2))
    slots = [
        Slot(variant, seed, folder / "variants" / variant.slug / f"seed-{seed}")
        for seed in range(plan.comparison.seeds)  # one seed of everything first: an early report compares fairly
        for variant in plan.variants
    ]
    for slot in slots if resume else ():
        _refuse_changes(slot, folder)
    return slots


def _check_test_sets(plan: Plan) -> None:
    """Raise for variants whose scores would be measured on different test sentences."""
    first, *others = plan.variants
    for one in others:
        if one.recipe.data == first.recipe.data:
            continue
        ours, theirs = (
            load_split(each.recipe.data, "test").pairs[: plan.comparison.sentences] for each in (first, one)
        )
        if ours != theirs:
            raise InputError(
                f"{first.name} and {one.name} have different test sets, so their scores would not compare: give both "
                "recipes the same test data"
            )


def _begun(folder: Path, comparison: Comparison, *, resume: bool) -> bool:
    """Whether the folder holds this comparison; False if it is new. Raises for any other content."""
    kept = folder / PLAN
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder with --out")
    if kept.exists():
        if not resume:
            raise InputError(f"{folder} holds a comparison: --resume continues it, --out names another folder")
        try:
            same = Comparison.model_validate_json(read_regular(kept)) == comparison
        except OSError as error:
            raise InputError(f"cannot read {kept}: {error.strerror}") from error
        except ValueError:
            same = False
        if not same:
            raise InputError(f"{folder} was started with another comparison: resume with the same one, or name --out")
        return True
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} holds files that are not a comparison: name another folder with --out")
    if resume:
        raise InputError(f"nothing to resume in {folder}: leave --resume out to start")
    return False


def _refuse_changes(slot: Slot, folder: Path) -> None:
    """Raise if a recipe changed since the comparison started: the finished runs would not be comparable."""
    if not (slot.folder / TASK).exists():
        return
    before = parse_recipe(Task.read(slot.folder).recipe, str(slot.folder / TASK)).model_dump(mode="json")
    now = slot.variant.recipe.model_dump(mode="json")
    now["train"] |= {name: before["train"][name] for name in ("seed", "threads")}
    changed = differences(before, now)
    if changed:
        raise InputError(
            f"{folder} was started with another recipe ({slot.variant.name}: {'; '.join(changed)}): its figures would "
            "not be comparable; put the recipe back, or start again with --out"
        )


def claimed(folder: Path) -> AbstractContextManager[None]:
    return hold_folder(folder, f"another process runs the comparison in {folder}")


def warned(slots: list[Slot]) -> dict[str, list[str]]:
    """Each warning once, with the names of its runs."""
    return together((slot.name, message) for slot in slots for message in dict.fromkeys(slot.warnings()))


def together(messages: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Each message once, with the names of its runs."""
    found: dict[str, list[str]] = {}
    for name, message in messages:
        found.setdefault(message, []).append(name)
    return found


def run_plan(
    plan: Plan, slots: list[Slot], jobs: int, show: Show = lambda done, running, steps: None
) -> dict[str, str]:
    """Train and evaluate every run without a result; returns the reasons of failed runs, by name."""
    waiting = [slot for slot in slots if slot.result() is None]
    running: dict[str, tuple[Slot, subprocess.Popen[bytes]]] = {}
    failed: dict[str, str] = {}
    with Interrupt() as interrupt:
        while waiting or running:
            while waiting and len(running) < jobs:
                slot = waiting.pop(0)
                running[slot.name] = (slot, _start(plan, slot, alone=jobs == 1))
            show(*_state(slots, running, failed))
            time.sleep(PAUSE)
            for name, (slot, process) in list(running.items()):
                code = process.poll()
                if code is None:
                    continue
                if code in (INTERRUPTED, -signal.SIGINT):
                    interrupt.requested = True
                    continue
                del running[name]
                if code or slot.result() is None:
                    failed[name] = why_failed(slot, code)
            if interrupt.requested and (waiting or running):
                _stop([process for _, process in running.values()])
                left = sum(slot.result() is None for slot in slots)  # a run may have ended meanwhile
                raise ComparisonStopped(f"interrupted; {left} of {len(slots)} runs are not done")
    show(*_state(slots, running, failed))
    # In the plan's order, not in the order of completion; another process may have finished some meanwhile.
    return {slot.name: failed[slot.name] for slot in slots if slot.name in failed and slot.result() is None}


def _start(plan: Plan, slot: Slot, *, alone: bool) -> "subprocess.Popen[bytes]":
    """Start the process of one run; parallel runs get one thread each, unless OMP_NUM_THREADS is set."""
    one_thread = not alone and not os.environ.get("OMP_NUM_THREADS")
    if not (slot.folder / TASK).exists():  # a resumed run keeps its task and its threads
        recipe = slot.variant.recipe.model_dump(mode="json")
        recipe["train"]["seed"] = slot.seed
        if recipe["train"]["threads"] is None and one_thread:
            recipe["train"]["threads"] = 1
        slot.folder.mkdir(parents=True, exist_ok=True)
        comparison = plan.comparison
        task = Task(slot.variant.name, slot.seed, recipe, comparison.sentences, comparison.shown, comparison.protocol)
        task.write(slot.folder)
    threads = {"OMP_NUM_THREADS": "1"} if one_thread else {}
    with (slot.folder / LOG).open("ab") as log:
        return subprocess.Popen(
            python("regard.lab.compare.one_run", str(slot.folder), str(os.getpid()), *plan.trust),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(**threads),
            start_new_session=True,  # Ctrl-C reaches only this process, which forwards it once: a second one kills
        )  # fmt: skip


def _stop(processes: "list[subprocess.Popen[bytes]]") -> None:
    """Interrupt every process, which then saves its run, and wait for it."""
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    for process in processes:
        process.wait()


def why_failed(slot: Slot, code: int) -> str:
    """The reason in one line; the log has more."""
    lines = slot.log()
    reason = lines[-1] if lines and code > 0 else f"the process ended with code {code}"
    if code < 0:  # the log does not mention the signal
        reason = f"the process was killed by {signal.Signals(-code).name}"
        reason += " (perhaps out of memory: try --jobs 1)" if -code == signal.SIGKILL else ""
    return reason


def _state(slots: list[Slot], running: "dict[str, Any]", failed: dict[str, str]) -> tuple[int, tuple[str, ...], float]:
    """The arguments of a `Show`."""
    shares = [
        _share(slot) if slot.name in running else float(slot.name in failed or slot.result() is not None)
        for slot in slots
    ]
    return sum(share == 1.0 for share in shares), tuple(running), sum(shares) / max(len(shares), 1)


def _share(slot: Slot) -> float:
    """How much of a run is done, from the end of its journal."""
    try:
        with open_regular(slot.folder / "run" / "journal.jsonl") as file:
            first = parse_json(next(line for line in file if b'"started"' in line))
            file.seek(max(0, (slot.folder / "run" / "journal.jsonl").stat().st_size - 4000))
            steps = [parse_json(line) for line in file.read().split(b"\n")[1:-1] if b'"step"' in line[:20]]
        return min(0.99, float(steps[-1]["step"]) / float(first["total_steps"]))
    except (OSError, ValueError, KeyError, IndexError, StopIteration):
        return 0.0
