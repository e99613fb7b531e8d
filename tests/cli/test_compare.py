"""`regard compare`: a table on stdout, a report in the folder, --resume, and wrong use."""

import json
import signal
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from course.terminal import Terminal
from lab.compare.conftest import RECIPE
from processes import started, wait_until
from regard.lab.compare.plan import Comparison, VariantGrid, make_plan
from regard.lab.compare.run_plan import open_folder

from .conftest import Command


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_comparison_and_its_continuation(command: Command, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--score", "additive", "--also", "vanilla", "--seeds", 1, "--sentences", 5, "--jobs", 1, "--out", out]
    outcome = command("compare", recipe, *options)
    assert outcome.code == 0
    head, additive, vanilla = outcome.out.splitlines()
    assert head.split()[:4] == ["variant", "BLEU", "p", "chrF"]
    assert head.endswith("differs from additive in")
    assert vanilla.endswith("model.score: 'additive' → 'none'")
    assert "p: BLEU against additive; paired bootstrap" in outcome.err
    assert all((out / f"report.{end}").exists() for end in ("html", "json", "csv", "tex"))
    assert (additive.split()[0], vanilla.split()[0]) == ("additive", "vanilla")
    assert f"written: {out / 'report.html'}" in outcome.err
    assert "training additive, seed 0 (0 of 2 done)" in outcome.err
    again = command("compare", recipe, *options)
    assert again.code == 2
    assert "--resume continues it" in again.complaint
    other = command("compare", recipe, *options, "--protocol", "raw", "--resume")
    assert "was started with another comparison" in other.complaint
    resumed = command("compare", recipe, *options, "--resume", "--json")
    assert [one["name"] for one in json.loads(resumed.out)["variants"]] == ["additive", "vanilla"]
    assert "training" not in resumed.err


def own_pairs(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8")
    path = tmp_path / "own.toml"
    data = '[data]\nkind = "tsv"\ntrain = "train.tsv"\ndev = "dev.tsv"\ntest = "test.tsv"\n[model]'
    path.write_text(data + RECIPE.partition("[model]")[2], encoding="utf-8")
    return path


def test_missing_data_is_reported_once_and_nothing_is_written(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    out = tmp_path / "out"
    outcome = command("compare", "multi30k-en-de", "--score", "additive,dot", "--out", out)
    assert outcome.code == 2
    assert "the corpus multi30k is not here" in outcome.complaint
    recipe = own_pairs(tmp_path, train="a\tb\n", test="a\tb\n")
    outcome = command("compare", recipe, "--score", "additive,dot", "--out", out)
    assert outcome.code == 2
    assert "dev.tsv" in outcome.complaint
    assert not out.exists()


def test_a_started_comparison_opens_without_its_data(tmp_path: Path) -> None:
    pair = "one two\tthree four\n"
    recipe = own_pairs(tmp_path, train=pair, dev=pair, test=pair)
    out = tmp_path / "out"
    plan = make_plan(Comparison(recipe=str(recipe), seeds=1, grid=VariantGrid(score=("additive",))))
    slots = open_folder(plan, out, resume=False)
    (tmp_path / "train.tsv").unlink()
    assert open_folder(plan, out, resume=True) == slots


@pytest.mark.slow
def test_a_failure_of_all_runs_is_reported_once(command: Command, tmp_path: Path) -> None:
    pair = "one two\tthree four\n"
    recipe = own_pairs(tmp_path, train=pair, dev=pair, test=pair)
    options = ["--score", "additive,general", "--seeds", 1, "--set", "data.longest_words=1", "--out", tmp_path / "out"]
    outcome = command("compare", recipe, *options)
    assert outcome.code == 1
    assert "failed: additive, seed 0 and 1 more: " in outcome.err
    assert outcome.err.count("every training pair (1) has more than 1 word on a side") == 1


@pytest.mark.slow
def test_ctrl_c_saves_and_prints_the_command_to_continue(recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = [
        "--score",
        "additive",
        "--seeds",
        "1",
        "--sentences",
        "3",
        "--set",
        "train.steps=3000",
        "--out",
        str(out),
    ]
    words = [sys.executable, "-m", "regard", "compare", str(recipe), *options]
    journal = out / "variants" / "additive" / "seed-0" / "run" / "journal.jsonl"
    with started(words, stdout=PIPE, stderr=PIPE) as process:
        wait_until(lambda: b'"step"' in _read(journal), process, "it trained")
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate()
    assert process.returncode == 130
    assert b"interrupted; 1 of 1 runs are not done. Continue with: regard compare" in printed
    assert b"--resume" in printed
    assert (journal.parent / "last" / "manifest.json").exists()


@pytest.mark.long
def test_a_closed_terminal_ends_a_comparison_whose_runs_were_saved(recipe: Path, tmp_path: Path) -> None:
    run = tmp_path / "out" / "variants" / "additive" / "seed-0" / "run"
    words = ["compare", str(recipe), "--score", "additive", "--seeds", "1", "--set", "train.steps=30000"]
    terminal = Terminal([sys.executable, "-m", "regard", *words, "--out", str(tmp_path / "out")], tmp_path)
    try:
        terminal.wait_for("training additive", seconds=60)
        wait_until(lambda: b'"step"' in _read(run / "journal.jsonl"), terminal.process, "it trained")
        terminal.hang_up()
        assert terminal.process.wait(timeout=120) == 130
    finally:
        terminal.close()
    assert b'"interrupted"' in _read(run / "journal.jsonl")
    assert (run / "last" / "manifest.json").exists()


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


@pytest.mark.long
def test_the_report_is_updated_after_every_run(recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--seeds", "1", "--sentences", "3", "--jobs", "1", "--out", str(out)]
    (tmp_path / "two.toml").write_text(
        f'recipe = "{recipe.name}"\n[variants.quick.train]\nsteps = 2\n[variants.slow.train]\nsteps = 30000\n',
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "regard", "compare", str(tmp_path / "two.toml"), *options]
    journal = out / "variants" / "slow" / "seed-0" / "run" / "journal.jsonl"
    with started(words, stderr=DEVNULL) as process:
        wait_until(lambda: (out / "report.json").exists() and journal.exists(), process, "one run was done")
        claimed = json.loads((out / "report.json").read_text(encoding="utf-8"))
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert [len(one["runs"]) for one in claimed["variants"]] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["revers"], "no recipe 'revers': did you mean 'reverse'?"),
        (["reverse", "--score", "additiv"], "score 'additiv': did you mean 'additive'?"),
        (["reverse", "--score", ""], "--score is empty: name some, e.g. --score additive, or leave it out"),
        (["reverse", "--also", " , "], "--also is empty: name some, e.g. --also transformer, or leave it out"),
        (["reverse", "--score", "dot,additive,dot"], "--score names 'dot' twice: once is enough"),
        (["reverse", "--set", "train.step=3"], "unknown key train.step"),
        (["reverse", "sort", "--score", "dot"], "--score varies one recipe, and 2 were given"),
        (["reverse", "sort"], "reverse and sort have different test sets"),
        (["reverse", "--protocol", "wmt"], "no protocol 'wmt': valid choices are model"),
        (["reverse", "--seeds", "0"], "Invalid value for '--seeds': Input should be greater"),
    ],
)
def test_wrong_use(command: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    outcome = command("compare", *arguments, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert message in outcome.complaint
    assert not (tmp_path / "out").exists()
