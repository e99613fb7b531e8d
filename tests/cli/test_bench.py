"""`regard bench`: wrong options and unwritable files are reported before the work; measured figures are not lost."""

import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.cli.output import check_outputs
from regard.lab.bench.growth import Point, Size
from regard.text.input_error import InputError

from .conftest import Command

QUICK = ("bench", "--work", "tutorial", "--repeats", 1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--work", "nonsense"], "no work 'nonsense' to measure: valid choices are tutorial, multi30k, paper"),
        (["--json", "nowhere/x.json"], "--json: there is no folder nowhere to write x.json into; --parents creates it"),
        (["--json", "."], "--json: . is a folder; name a file in it"),
        (
            ["--json", "both.png", "--picture", "./both.png"],
            "--picture and --json name the same file, both.png: name two",
        ),
        (
            ["--picture", "nowhere/x.png"],
            "--picture: there is no folder nowhere to write x.png into; --parents creates it",
        ),
        (
            ["--without", "encode_paded"],
            "--without encode_paded: no accelerated implementation has this name; did you mean 'encode_padded'?",
        ),
        (["--picture", "x.txt"], "x.txt ends in .txt; expected .png, .svg or .pdf"),
        (
            ["--work", "tutorial", "--without", "top_by_blocks", "--without", "encode_padded"],
            "--without top_by_blocks: it does not run in these training steps, so they do not measure it; `python "
            "benchmarks/fast_entries.py --entry top_by_blocks`, in the repository, measures other models and decoding",
        ),
    ],
)
def test_wrong_options_are_refused_at_once(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = command("bench", *options)
    assert (outcome.code, outcome.complaint) == (2, complaint)


def test_an_entry_that_runs_only_without_another_is_measured(command: Command) -> None:
    """encode_packed runs for this batch where encode_padded is switched off."""
    alone = command(*QUICK, "--without", "encode_packed")
    assert alone.code == 2
    assert alone.complaint.startswith("--without encode_packed: it does not run in these training steps")
    assert command(*QUICK, "--without", "encode_packed", "--without", "encode_padded").code == 0


def test_more_threads_than_cores_are_refused(command: Command) -> None:
    """torch aborts the process for millions of threads."""
    outcome = command("bench", "--threads", 1000)
    assert outcome.code == 2
    assert outcome.complaint == f"--threads 1000: this machine has {os.cpu_count()} cores: give at most that many"


@pytest.mark.parametrize("option", ["--json", "--picture"])
def test_a_full_disk_is_reported_before_the_work(process: Command, tmp_path: Path, option: str) -> None:
    path = tmp_path / "figures.png"
    outcome = process(
        *QUICK, option, path, preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    )
    assert outcome.code == 1
    assert outcome.complaint.startswith(f"cannot write {path}: ")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def nobody() -> Iterator[None]:
    """Not root, who may write everywhere."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_a_folder_without_write_permission_is_refused_even_for_an_existing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """By names that begin here: others may not look into the folders above."""
    monkeypatch.chdir(tmp_path)
    Path("figures.json").write_text("last week's", encoding="utf-8")
    Path("figures.json").chmod(0o666)
    Path("locked.json").write_text("nobody's", encoding="utf-8")
    Path("locked.json").chmod(0o400)
    tmp_path.chmod(0o555)
    request.getfixturevalue("nobody")
    for name in ("figures.json", "locked.json", "new.json"):
        with pytest.raises(InputError, match="permission denied"):
            check_outputs({"--json": Path(name)}, parents=False)
    assert Path("figures.json").read_text(encoding="utf-8") == "last week's"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_figures_that_cannot_be_written_are_printed(command: Command) -> None:
    outcome = command(*QUICK, "--without", "encode_padded", "--json", "/dev/full")
    assert outcome.code == 1
    assert outcome.err == "regard: cannot write /dev/full: the disk is full: free some space, or name another folder\n"
    table, _, record = outcome.out.partition("\n{\n")
    assert table.splitlines()[0].endswith(", without encode_padded")
    assert "ours, bf16" in table
    figures = json.loads("{" + record)
    assert (figures["training"][0]["work"]["name"], figures["without"]) == ("tutorial", ["encode_padded"])


def test_a_later_failure_loses_neither_new_nor_old_figures(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture's folder is removed during the measurement."""
    folder, path = tmp_path / "pictures", tmp_path / "figures.json"
    folder.mkdir()
    path.write_text("last week's", encoding="utf-8")

    def growth(*_: object, **__: object) -> list[Point]:
        folder.rmdir()
        folder.write_text("a file now", encoding="utf-8")
        return [Point(axis, Size(1, 1, 1), "plain torch", 1.0, None) for axis in ("length", "width", "batch")]

    monkeypatch.setattr("regard.lab.bench.growth.measure_growth", growth)
    outcome = command(*QUICK, "--json", path, "--picture", folder / "x.png")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith(f"regard: cannot write {folder / 'x.png'}: ")
    assert path.read_text(encoding="utf-8") == "last week's"
    record = json.loads((tmp_path / "figures.json.part").read_text(encoding="utf-8"))
    assert [one["name"] for one in record["training"][0]["timings"]][:2] == ["textbook loop", "textbook loop, bf16"]


@pytest.mark.long
def test_a_machine_without_a_compiler_measures_the_rest(
    process: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "nonexistent")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    outcome = process(*QUICK, "--compile")
    assert (outcome.code, outcome.err) == (0, "")
    assert "ours, bf16" in outcome.out
    assert "its step compiled" not in outcome.out
    assert "torch.compile does not work here, left out: " in outcome.out
