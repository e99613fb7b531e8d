"""Running a plan: every run gets its result, finished runs are kept, failures are reported; the report."""

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from processes import completed, default_signals, launch, wait_until
from regard.lab.compare import run_plan as run_plan_module
from regard.lab.compare.comparison_page import cell, comparison_page, table_rows, write_report
from regard.lab.compare.one_run import RESULT, WARNINGS, Task, main, work
from regard.lab.compare.plan import Comparison, Plan, VariantGrid, make_plan
from regard.lab.compare.results import Row, Spread, gather
from regard.lab.compare.run_plan import (
    LOG,
    ComparisonStopped,
    Slot,
    _start,
    claimed,
    open_folder,
    run_plan,
    warned,
    why_failed,
)
from regard.lab.machine import default_jobs
from regard.text.input_error import InputError
from regard.training import device as training_device
from regard.training.recipe import load_recipe
from regard.training.run_folder import hold_folder


def finish(plan: Plan, slots: list[Slot]) -> None:
    """Do every run in this process."""
    for slot in slots:
        recipe = slot.variant.recipe.model_dump(mode="json")
        recipe["train"]["seed"] = slot.seed
        slot.folder.mkdir(parents=True)
        assert work(slot.folder, Task(slot.variant.name, slot.seed, recipe, 10, 2, "lowercase")) == 0


def test_a_run_is_measured_on_the_cpu_where_its_gpu_does_not_work(
    comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(comparison.model_copy(update={"set": ("train.device=auto",)}))
    slots = open_folder(plan, tmp_path / "out", resume=False)

    def fail(device: torch.device) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(training_device, "_try", fail)
    with pytest.warns(training_device.DeviceWarning, match="the GPU cannot be used"):
        finish(plan, slots[:1])
    assert slots[0].result() is not None


def test_a_comparison_from_plan_to_page(comparison: Comparison, tmp_path: Path) -> None:
    plan = make_plan(comparison)
    slots = open_folder(plan, tmp_path / "out", resume=False)
    assert [slot.seed for slot in slots] == [0, 0, 0, 1, 1, 1]
    finish(plan, slots)
    assert run_plan(plan, slots, jobs=1) == {}  # nothing is left to do
    rows = gather(plan, slots, {})
    found = write_report(plan, rows, 2, tmp_path / "out")
    assert found["machine"]["machine"].endswith("2 runs side by side")
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == found
    additive, _, vanilla = found["variants"]
    assert additive["figures"]["bleu"]["seeds"] == 2
    assert additive["figures"]["aer"]["low"] <= additive["figures"]["aer"]["mean"] <= additive["figures"]["aer"]["high"]
    assert "aer" not in vanilla["figures"]
    run = additive["runs"][0]
    assert run["evaluation"]["sentences"] == 10
    assert run["evaluation"]["protocol"] == "lowercase"
    assert [point["step"] for point in run["curve"]] == [3, 6]
    assert set(run["aer_by_shift"]) == {"-1", "0", "1"}
    assert len(run["examples"]) == 2
    assert min(run["parameters"], run["memory"], run["tokens_per_second"]) > 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for text in (
        "Figures", "Learning curves", "BLEU by source length", "Heat-maps side by side", "Which row of attention",
        "one fixed vector", "model.score: ", "6 steps, batches of 8 sentences", "Mean over 2 seeds",
    ):  # fmt: skip
        assert text in page
    assert [row[0] for row in table_rows(rows)[1:]] == ["additive", "general", "vanilla"]
    assert comparison_page(plan, [_older(row) for row in rows], {}) == comparison_page(plan, rows, {})
    begun = [rows[0], replace(rows[1], runs=rows[1].runs[:1])]
    assert [row[0] for row in table_rows(begun)[1:]] == ["additive", "general (1 of 2 seeds)"]
    assert len({len(row) for row in table_rows(rows)}) == 1


def _older(row: Row) -> Row:
    """The row as older versions recorded it."""
    runs = json.loads(json.dumps(row.runs))
    for run in runs:
        for example in run["examples"]:
            example["said"] = example.pop("output")
    return replace(row, runs=tuple(runs))


@pytest.mark.slow
def test_parallel_processes_and_one_that_fails(recipe: Path, tmp_path: Path) -> None:
    grid = VariantGrid(score=("additive", "general"))
    plan = make_plan(Comparison(recipe=str(recipe), seeds=1, sentences=4, shown=1, grid=grid))
    slots = open_folder(plan, tmp_path / "out", resume=False)
    # A folder with other files makes the run in it fail, and only that run.
    (slots[1].folder / "run").mkdir(parents=True)
    (slots[1].folder / "run" / "precious").write_text("mine", encoding="utf-8")
    states: list[tuple[int, Collection[str], float]] = []
    failed = run_plan(plan, slots, jobs=2, show=lambda *state: states.append(state))
    assert list(failed) == ["general, seed 0"]
    assert "holds files that are not a run" in failed["general, seed 0"]
    assert slots[0].result() is not None
    assert states[0][1] == ("additive, seed 0", "general, seed 0")
    assert states[-1] == (2, (), 1.0)
    rows = gather(plan, slots, failed)
    page = comparison_page(plan, rows, {})
    assert "Not run" in page
    assert "holds files that are not a run" in page
    # Once fixed, the failed run continues and the other is not run again.
    (slots[1].folder / "run" / "precious").unlink()
    before = (slots[0].folder / RESULT).stat().st_mtime_ns
    slots = open_folder(plan, tmp_path / "out", resume=True)
    assert run_plan(plan, slots, jobs=1) == {}
    assert (slots[0].folder / RESULT).stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_run_finished_by_another_process_is_not_a_failure(recipe: Path, tmp_path: Path) -> None:
    plan = make_plan(Comparison(recipe=str(recipe), seeds=1, grid=VariantGrid(score=("additive",))))
    (slot,) = slots = open_folder(plan, tmp_path / "out", resume=False)
    (slot.folder / "run").mkdir(parents=True)

    def finish_meanwhile(done: int, running: Collection[str], steps: float) -> None:
        if slot.name in running and "another process" in "".join(slot.log()):
            (slot.folder / RESULT).write_text("{}", encoding="utf-8")

    with hold_folder(slot.folder / "run", "ours"):  # of a comparison that was killed, say, whose run goes on
        assert "another process is training in" in run_plan(plan, slots, jobs=1)[slot.name]
        assert run_plan(plan, slots, jobs=1, show=finish_meanwhile) == {}


@pytest.mark.slow
def test_a_run_ends_with_the_comparison_that_started_it(recipe: Path, tmp_path: Path) -> None:
    tables = load_recipe(str(recipe)).model_dump(mode="json")
    tables["train"] |= {"steps": 10_000_000}
    Task("additive", 0, tables, None, 0).write(tmp_path)
    another_user = str(os.getpid() + 1)
    command = [sys.executable, "-m", "regard.lab.compare.one_run", tmp_path, another_user]
    done = completed(command, ignore=[signal.SIGINT])  # as in a shell's background
    assert done.returncode not in (0, -signal.SIGKILL)
    assert not (tmp_path / RESULT).exists()


def test_two_processes_never_run_one_comparison(tmp_path: Path) -> None:
    with (
        claimed(tmp_path),
        pytest.raises(InputError, match="another process runs the comparison"),
        claimed(tmp_path),
    ):
        pass
    with claimed(tmp_path):
        pass


def test_warnings_of_runs_are_printed_once(
    comparison: Comparison, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "warning_score.py").write_text(
        "import warnings\n"
        "from regard.attention import LuongGeneral\n"
        "from regard.training.device import DeviceWarning\n"
        "class Score(LuongGeneral):\n"
        "    def __init__(self, query_width, state_width):\n"
        "        super().__init__(query_width, state_width)\n"
        "        warnings.warn('look\\nhere', DeviceWarning)\n"
        "        warnings.warn('of a library', UserWarning)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    plan = make_plan(comparison)
    slots = open_folder(plan, tmp_path / "out", resume=False)
    assert warned(slots) == {}
    for slot in slots[:2]:
        tables = slot.variant.recipe.model_dump(mode="json")
        tables["model"] |= {"score": "warning_score:Score"}
        slot.folder.mkdir(parents=True)
        Task(slot.variant.name, slot.seed, tables, 2, 0).write(slot.folder)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            main([str(slot.folder), "warning_score:Score"])
        (slot.folder / LOG).write_text(capsys.readouterr().err, encoding="utf-8")
    assert warned(slots) == {"look here": [slots[0].name, slots[1].name]}
    assert "UserWarning: of a library" in slots[0].log()


def test_notes_of_runs_about_their_data_are_printed(
    comparison: Comparison, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"{n} 3 4\t4 3 {n}\n" for n in range(60)), encoding="utf-8")
    slot = open_folder(make_plan(comparison), tmp_path / "out", resume=False)[0]
    tables = slot.variant.recipe.model_dump(mode="json")
    tables["data"] = {"kind": "tsv", "train": "pairs.tsv", "base": str(tmp_path)}
    slot.folder.mkdir(parents=True)
    Task(slot.variant.name, slot.seed, tables, 2, 0).write(slot.folder)
    assert main([str(slot.folder)]) == 0
    assert [note.split(":")[0] for note in warned([slot])] == ["no dev file", "no test file"]
    assert "warning: no dev file" in capsys.readouterr().err


def test_only_whole_warnings_are_printed_and_no_line_of_the_log(comparison: Comparison, tmp_path: Path) -> None:
    slot = open_folder(make_plan(comparison), tmp_path / "out", resume=False)[0]
    slot.folder.mkdir(parents=True)
    (slot.folder / LOG).write_text("warning: of a library\n", encoding="utf-8")
    lines = ['{"message": "first"}', '{"mess{"message": "killed"}', "[]", "{}", '{"message": "last"}', '{"mes']
    (slot.folder / WARNINGS).write_text("\n".join(lines), encoding="utf-8")
    assert list(warned([slot])) == ["first", "last"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [(1, "that was it"), (-9, "the process was killed by SIGKILL (perhaps out of memory"), (-11, "killed by SIGSEGV")],
)
def test_the_reason_of_a_killed_process_is_the_signal(
    comparison: Comparison, tmp_path: Path, code: int, reason: str
) -> None:
    slot = open_folder(make_plan(comparison), tmp_path / "out", resume=False)[0]
    slot.folder.mkdir(parents=True)
    (slot.folder / LOG).write_text("warning: look here\nthat was it\n", encoding="utf-8")
    assert reason in why_failed(slot, code)
    assert ("that was it" in why_failed(slot, code)) == (code == 1)


def test_a_failed_process_logs_its_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Task("x", 0, {"data": {"kind": "nonsense"}}, None, 0).write(tmp_path)
    assert main([str(tmp_path)]) == 1
    assert "data.kind = 'nonsense'" in capsys.readouterr().err


def test_folders_of_other_comparisons_are_refused(comparison: Comparison, tmp_path: Path) -> None:
    plan = make_plan(comparison)
    folder = tmp_path / "out"
    with pytest.raises(InputError, match="nothing to resume"):
        open_folder(plan, folder, resume=True)
    open_folder(plan, folder, resume=False)
    with pytest.raises(InputError, match="holds a comparison: --resume continues it"):
        open_folder(plan, folder, resume=False)
    other = make_plan(comparison.model_copy(update={"seeds": 1}))
    with pytest.raises(InputError, match="was started with another comparison"):
        open_folder(other, folder, resume=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="holds files that are not a comparison"):
        open_folder(plan, tmp_path / "full", resume=False)
    with pytest.raises(InputError, match="is a file: name a folder"):
        open_folder(plan, tmp_path / "full" / "thesis.txt", resume=False)


def test_a_recipe_that_was_edited_since_is_refused(comparison: Comparison, recipe: Path, tmp_path: Path) -> None:
    plan = make_plan(comparison)
    first, *_ = open_folder(plan, tmp_path / "out", resume=False)
    begun = first.variant.recipe.model_dump(mode="json")
    begun["train"] |= {"seed": first.seed, "threads": 1}
    first.folder.mkdir(parents=True)
    Task(first.variant.name, first.seed, begun, 10, 2).write(first.folder)
    open_folder(make_plan(comparison), tmp_path / "out", resume=True)
    recipe.write_text(recipe.read_text(encoding="utf-8").replace("steps = 6", "steps = 60"), encoding="utf-8")
    with pytest.raises(InputError, match=r"started with another recipe \(additive: train.steps was 6, is 60\)"):
        open_folder(make_plan(comparison), tmp_path / "out", resume=True)


@pytest.mark.parametrize("given", ["3", None])
def test_parallel_runs_respect_omp_num_threads(
    given: str | None, comparison: Comparison, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS") if given is None else monkeypatch.setenv("OMP_NUM_THREADS", given)
    recipe.write_text(recipe.read_text(encoding="utf-8").replace("threads = 1\n", ""), encoding="utf-8")
    plan = make_plan(comparison)
    first, *_ = open_folder(plan, tmp_path / "out", resume=False)
    process = _start(plan, first, alone=False)
    try:
        environ = Path(f"/proc/{process.pid}/environ")
        # It is empty for a moment, while the system starts the program.
        wait_until(lambda: b"OMP_NUM_THREADS" in environ.read_bytes(), process, "it had variables")
        variables = environ.read_bytes().split(b"\0")
    finally:
        process.kill()
        process.wait(timeout=60)
    assert f"OMP_NUM_THREADS={given or 1}".encode() in variables
    assert Task.read(first.folder).recipe["train"]["threads"] == (None if given else 1)


def test_the_page_shows_different_budgets_and_notes(comparison: Comparison) -> None:
    plan = make_plan(comparison.model_copy(update={"variants": {"long": {"train": {"steps": 12}}}}))
    result = {"evaluation": {"bleu": 1.0, "by_length": [], "notes": ["3 of 10 sources were too long"]}, "curve": []}
    result |= {"metric": "bleu", "aer_by_shift": None, "examples": []}
    page = comparison_page(plan, [Row("additive", (result,), {}, ())], {})
    assert "the budgets differ: additive, general, vanilla: 6 steps, batches of 8 sentences; long: 12 steps" in page
    assert "additive: 3 of 10 sources were too long" in page


def test_spread_and_cells() -> None:
    spread = Spread.of([1.0, 2.0, 3.0])
    assert (spread.mean, spread.low, spread.high, spread.deviation) == (2.0, 1.0, 3.0, 1.0)
    assert cell("bleu", spread, spread.seeds) == "2.00 ± 1.00"
    assert cell("bleu", Spread.of([2.0]), 1) == "2.00"
    assert cell("parameters", Spread.of([1e4, 1e4]), 2) == "10,000"
    assert cell("aer", None, 1) == "–"
    assert cell("entropy", Spread.of([0.845]), 2) == "0.845 (1 of 2 seeds)"


def test_the_machine_is_named() -> None:
    assert default_jobs("cpu") >= 1
    assert default_jobs("cuda:0") == 1


def test_a_run_that_ends_while_it_is_interrupted_counts_as_done(
    comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(comparison)
    slots = open_folder(plan, tmp_path / "out", resume=False)
    ending = (
        "import pathlib, signal, sys, time\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "signal.signal(signal.SIGINT, lambda *_: (place / sys.argv[2]).write_text('{}') and sys.exit(0))\n"
        "(place / 'ready').touch()\n"
        "time.sleep(60)\n"
    )

    def start(plan: Plan, slot: Slot, alone: bool) -> subprocess.Popen[Any]:
        slot.folder.mkdir(parents=True)
        return launch([sys.executable, "-c", ending, slot.folder, RESULT])

    def interrupt(done: int, running: Collection[str], steps: float) -> None:
        if (slots[0].folder / "ready").exists():
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(run_plan_module, "_start", start)
    with default_signals(), pytest.raises(ComparisonStopped, match="interrupted; 5 of 6 runs are not done"):
        run_plan(plan, slots, 1, interrupt)
