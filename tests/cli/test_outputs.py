"""Item 7 of Trust: outputs are written atomically, never over an input, and only into existing folders."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bundle.conftest import names, small_files
from processes import started, wait_until
from regard.bundle import load_bundle, save_bundle
from regard.cli.output import open_output
from regard.training.recipe import parse_recipe
from runtime.bundles import untrained

from .conftest import Command

LINES = "3 4 5\n6 7 8\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


def writing(bundle: Path, folder: Path, data: Path) -> dict[str, list[object]]:
    """Every option that takes a user's file to write, by verb: a command that writes into this folder."""
    return {
        "translate --output": ["translate", bundle, "3 4 5", "--output", folder / "x.txt"],
        "translate --html": ["translate", bundle, "3 4 5", "--html", folder / "x.html"],
        "align --output": ["align", bundle, data, "--output", folder / "x.align"],
        "align --html": ["align", bundle, data, "--html", folder / "x.html"],
        "align --save-settings": ["align", bundle, data, "--save-settings", folder / "x.json"],
        "evaluate --html": ["evaluate", bundle, data, "--html", folder / "x.html"],
        "plot --out": ["plot", bundle, "3 4 5", "--out", folder / "x.png"],
        "plot --out, a page": ["plot", bundle, "3 4 5", "--out", folder / "x.html"],
        "plot --out, a curve": ["plot", bundle, "--out", folder / "x.pdf"],
        "explain --plot": ["explain", "additive", "--plot", folder / "x.svg"],
    }


COMMANDS = list(writing(Path(), Path(), Path()))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("3 4 5\t5 4 3\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("what", COMMANDS)
def test_a_missing_folder_is_an_error_without_parents(
    command: Command, run_folder: Path, pairs: Path, tmp_path: Path, what: str
) -> None:
    new = tmp_path / "new" / "deep"
    line = writing(run_folder, new, pairs)[what]
    outcome = command(*line)
    assert outcome.code == 2
    option, path = line[-2], Path(str(line[-1]))
    assert outcome.complaint == f"{option}: there is no folder {new} to write {path.name} into; --parents creates it"
    assert not new.parent.exists()
    assert command(*line, "--parents").code == 0
    assert names(new) == [path.name]


@pytest.mark.parametrize("what", COMMANDS)
def test_an_output_is_replaced_atomically(
    command: Command, run_folder: Path, pairs: Path, tmp_path: Path, what: str
) -> None:
    """The old file stays when the disk refuses the new one; nothing is left beside it, and its mode stays."""
    new = tmp_path / "new"
    new.mkdir()
    line = writing(run_folder, new, pairs)[what]
    assert command(*line).code == 0
    (path,) = new.iterdir()
    path.chmod(0o600)
    before = path.read_bytes()
    with small_files(0):
        assert command(*line).code == 1
    assert (names(new), path.read_bytes()) == ([path.name], before)
    assert command(*line).code == 0
    assert (names(new), stat.S_IMODE(path.stat().st_mode)) == ([path.name], 0o600)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_not_written_in_place(command: Command, run_folder: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"map.{ending}"
    assert command("plot", run_folder, "3 4 5", "--out", path).code == 0
    before = path.read_bytes()
    with small_files(5000):
        outcome = command("plot", run_folder, "6 7 8", "--out", path)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith(f"regard: cannot write {path}: the file would be larger")
    assert (path.read_bytes(), names(tmp_path)) == (before, [path.name])


def test_two_writers_of_one_output_share_no_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with open_output(path) as first, open_output(path) as second:
        first.write("a\n" * 9000)
        second.write("b\n" * 9000)
        first.write("a\n")
    assert path.read_text(encoding="utf-8") == "a\n" * 9001
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("linked", [False, True])
def test_a_users_own_part_file_is_neither_written_nor_followed(
    command: Command, run_folder: Path, source: Path, tmp_path: Path, fails: bool, linked: bool
) -> None:
    mine, victim, output = tmp_path / "out.txt.part", tmp_path / "victim", tmp_path / "out.txt"
    victim.write_text("mine")
    if linked:
        mine.symlink_to(victim)
    else:
        mine.write_text("mine")
    source.write_bytes(b"3 4 5\n" * 300 + b"\xff\xfe\n" * fails)
    stream = tmp_path / "stream"
    os.mkfifo(stream)  # a file's bytes are checked before, a stream's while it is translated
    with started(["cp", source, stream]):
        outcome = command("translate", run_folder, "--input", stream, "--output", output)
    assert outcome.code == (2 if fails else 0)
    assert (victim.read_text(), mine.read_text(), mine.is_symlink()) == ("mine", "mine", linked)
    assert output.exists() != fails
    if fails:
        kept = tmp_path / "out.txt.2.part"
        assert outcome.err.startswith(f"regard: the output so far is in {kept}\n")
        assert kept.read_text(encoding="utf-8") == "5 4 3\n" * 256
        kept.unlink()
    assert {*names(tmp_path)} - {"out.txt"} == {"in.txt", "out.txt.part", "stream", "victim"}


def test_a_failure_before_the_first_line_leaves_no_file(command: Command, run_folder: Path, tmp_path: Path) -> None:
    assert command("translate", run_folder, "--output", tmp_path / "out.txt", stdin=b"\xff\xfe\n").code == 2
    assert names(tmp_path) == []


def test_the_next_translation_removes_the_files_of_a_killed_one(
    command: Command, run_folder: Path, tmp_path: Path
) -> None:
    child = os.fork()
    if not child:
        with suppress(BaseException), open_output(tmp_path / "out.txt") as file:
            file.write("half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "out.txt").exists()
    assert command("translate", run_folder, "3 4 5", "--output", tmp_path / "out.txt").code == 0
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_sigterm_keeps_the_output_and_leaves_no_draft(run_folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "regard", "translate", run_folder, "--output", tmp_path / "out.txt"]
    with started(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"3 4 5\n" * 256)
        process.stdin.flush()
        wait_until(lambda: any(one.stat().st_size for one in tmp_path.iterdir()), process, "it wrote")
        process.send_signal(number)
        _, errors = process.communicate()
    assert (process.returncode, errors.decode().splitlines()[-1]) == (130, "regard: interrupted")
    assert names(tmp_path) == ["out.txt.part"]
    assert (tmp_path / "out.txt.part").read_text(encoding="utf-8") == "5 4 3\n" * 256


def test_a_link_stays_and_its_target_is_replaced(command: Command, run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to("real.txt")
    for _ in range(2):
        assert command("translate", run_folder, "3 4 5", "--output", tmp_path / "link.txt").code == 0
        assert (tmp_path / "real.txt").read_text(encoding="utf-8") == "5 4 3\n"
    assert os.readlink(tmp_path / "link.txt") == "real.txt"
    assert names(tmp_path) == ["link.txt", "real.txt"]


def test_standard_output_may_be_named(process: Command, run_folder: Path, tmp_path: Path) -> None:
    files = ["--input", "-", "--output", "-", "--html", "/dev/stdout"]
    outcome = process("translate", run_folder, *files, stdin=LINES.encode())
    assert (outcome.code, outcome.err) == (0, "regard: written: /dev/stdout\n")
    assert outcome.out.startswith("5 4 3\n8 7 6\n<!doctype html>")
    assert names(tmp_path) == []


def test_pipes_are_written_to_directly(command: Command, run_folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for option, wanted in (("--output", b"5 4 3\n"), ("--html", b"<!doctype html>")):
        with started(["cat", pipe], stdout=subprocess.PIPE) as reader:
            assert command("translate", run_folder, "3 4 5", option, pipe).code == 0
            assert reader.stdout is not None
            assert reader.stdout.read().startswith(wanted)
    assert pipe.is_fifo()


def spellings(path: Path) -> list[Path]:
    """The same file by other names."""
    hard, soft = path.with_name("hard"), path.with_name("soft")
    hard.hardlink_to(path)
    soft.symlink_to(path.name)
    return [path, hard, soft, path.parent / ".." / path.parent.name / path.name]


def test_an_output_that_is_also_the_input_is_refused_unless_in_place(
    command: Command, run_folder: Path, source: Path
) -> None:
    for name in spellings(source):
        for option, remedy in (("--output", "name another file, or add --in-place"), ("--html", "name another file")):
            outcome = command("translate", run_folder, "--input", source, option, name)
            assert (outcome.code, outcome.complaint) == (2, f"{option} {name} is also an input: {remedy}")
    assert source.read_text(encoding="utf-8") == LINES
    outcome = command("translate", run_folder, "--input", source, "--in-place", "--html", source)
    assert outcome.complaint == f"--html {source} is also an input: name another file"


def test_in_place_replaces_the_input(command: Command, run_folder: Path, source: Path) -> None:
    soft = source.with_name("soft")
    soft.symlink_to(source.name)
    source.chmod(0o640)
    for more in ((), ("--output", source), ("--output", soft)):
        source.write_text(LINES, encoding="utf-8")
        outcome = command("translate", run_folder, "--input", source, "--in-place", *more)
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
        assert source.read_text(encoding="utf-8") == "5 4 3\n8 7 6\n"
    assert (stat.S_IMODE(source.stat().st_mode), soft.is_symlink()) == (0o640, True)
    assert names(source.parent) == ["in.txt", "soft"]


def test_in_place_needs_a_plain_file_and_no_other_output(
    command: Command, run_folder: Path, source: Path, tmp_path: Path
) -> None:
    packed, pipe = tmp_path / "in.txt.gz", tmp_path / "pipe"
    subprocess.run(["gzip", "-k", source], check=True)
    os.mkfifo(pipe)
    for arguments, message in (
        (["3 4 5"], "--in-place replaces the file of --input: name one"),
        (["--input", "-"], "--in-place replaces the file of --input: name one"),
        (["--input", source, "--output", tmp_path / "x"], f"--in-place replaces {source}: leave --output out"),
        (["--input", packed], f"--in-place: {packed} is compressed; unpack it, or name a file with --output"),
        (["--input", pipe], f"{pipe} is a device or a pipe, expected a file that can be read twice"),
    ):
        outcome = command("translate", run_folder, *arguments, "--in-place")
        assert (outcome.code, outcome.complaint) == (2, message)
    source.unlink()
    assert "in.txt.gz is compressed" in command("translate", run_folder, "--input", source, "--in-place").complaint
    outcome = command("translate", run_folder, "--input", source, "--output", packed)
    assert outcome.complaint == f"--output {packed} is also an input: name another file, or add --in-place"


def test_standard_streams_count_as_files(run_folder: Path, source: Path) -> None:
    """`regard translate B --output F < F`, and `--input F >> F`, which would never end."""

    def run(*arguments: object, **streams: Any) -> str:
        line = [sys.executable, "-m", "regard", "translate", run_folder, *arguments]
        done = subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False, timeout=100, **streams)
        assert done.returncode == 2
        return str(done.stderr)

    with source.open() as file:
        printed = run("--output", source, stdin=file)
    assert printed == f"regard: --output {source} is also an input: name another file\n"
    with source.open("a") as file:
        printed = run("--input", source, stdout=file)
    assert printed == f"regard: standard output goes to {source}, which is also an input: name another file\n"
    assert source.read_text(encoding="utf-8") == LINES


@pytest.mark.parametrize("option", ["data", "--source", "--target", "--gold", "dev_gold", "--settings"])
@pytest.mark.parametrize("writes", ["--output", "--html", "--save-settings"])
def test_align_writes_over_no_input(command: Command, run_folder: Path, source: Path, option: str, writes: str) -> None:
    hard = source.with_name("hard")
    hard.hardlink_to(source)
    read: list[object] = [source] if option == "data" else [option, source]
    if option == "dev_gold":
        read = ["--set", "dev_source=a", "--set", "dev_target=b", "--set", f"dev_gold={source}"]
    outcome = command("align", run_folder, *read, writes, hard)
    assert (outcome.code, outcome.complaint) == (2, f"{writes} {hard} is also an input: name another file")


@pytest.mark.parametrize("option", ["data", "--source", "--target", "--links", "--reference", "--against"])
def test_evaluate_writes_over_no_input(command: Command, run_folder: Path, source: Path, option: str) -> None:
    hard = source.with_name("hard")
    hard.hardlink_to(source)
    read = [source] if option == "data" else [option, source]
    outcome = command("evaluate", run_folder, *read, "--html", hard)
    assert (outcome.code, outcome.complaint) == (2, f"--html {hard} is also an input: name another file")
    outcome = command("evaluate", source, "--html", hard)
    assert outcome.complaint == f"--html {hard} is also an input: name another file"


@pytest.fixture
def own_run(run_folder: Path, tmp_path: Path) -> Path:
    """A copy of the run, which a test that fails may damage."""
    return Path(shutil.copytree(run_folder, tmp_path / "run"))


@pytest.mark.parametrize("part", ["", "best", "last"])
def test_no_output_replaces_a_file_of_the_bundle(command: Command, own_run: Path, vanilla: Path, part: str) -> None:
    run_folder = own_run
    files = [path for path in (run_folder / part).iterdir() if path.is_file() and path.name != "curve.png"]
    assert len(files) >= (2 if part == "" else 4)
    before = {path: path.read_bytes() for path in files}
    for path in files:
        for line in (
            ["translate", run_folder, "3 4 5", "--output", path],
            ["translate", vanilla, "3 4 5", "--ensemble", run_folder, "--html", path],
            ["align", run_folder, "--output", path],
            ["align", vanilla, "--reverse", run_folder, "--html", path],
            ["evaluate", run_folder, "--html", path],
            ["evaluate", vanilla, "--against", run_folder, "--html", path],
            ["evaluate", vanilla, "--ensemble", run_folder, "--html", path],
        ):
            outcome = command(*line)
            assert (outcome.code, outcome.complaint) == (
                2, f"{line[-2]} {path} is also an input: name another file"
            )  # fmt: skip
    assert {path: path.read_bytes() for path in files} == before


def test_a_curve_may_replace_the_curve_of_the_run_but_not_its_journal(command: Command, own_run: Path) -> None:
    link = own_run / "link.png"
    link.symlink_to("journal.jsonl")
    for bundle in (own_run, own_run / "best"):
        assert command("plot", bundle, "--out", own_run / "curve.png").code == 0
        assert command("plot", bundle, "--out", link).complaint == f"--out {link} is also an input: name another file"


@pytest.fixture
def with_files(tmp_path: Path, pairs: Path) -> Path:
    """A bundle whose recipe reads a file."""
    table = {"kind": "tsv", "train": str(pairs), "test": str(pairs)}
    model: dict[str, Any] = {"preset": "bahdanau", "size": "tiny"}
    recipe = parse_recipe({"data": table, "model": model, "train": {"steps": 1, "batch_sentences": 1}}, "the test's")
    one = load_bundle(untrained(tmp_path / "first"))
    about: dict[str, Any] = {"source_eos": True, "longest_source": 12, "recipe": recipe.model_dump(mode="json")}
    save_bundle(tmp_path / "bundle", one.model, one.source, one.target, **about)
    return tmp_path / "bundle"


def test_no_output_replaces_the_data_of_the_recipe(command: Command, with_files: Path, pairs: Path) -> None:
    hard = pairs.with_name("hard")
    hard.hardlink_to(pairs)
    for line in (["align", with_files, "--output", hard], ["evaluate", with_files, "--html", hard]):
        outcome = command(*line)
        assert (outcome.code, outcome.complaint) == (2, f"{line[-2]} {hard} is also an input: name another file")
    assert pairs.read_text(encoding="utf-8") == "3 4 5\t5 4 3\n"


def test_one_file_by_two_names_is_not_written_twice(command: Command, run_folder: Path, source: Path) -> None:
    _, hard, soft, other = spellings(source)
    for name in (hard, soft, other):
        outcome = command("translate", run_folder, "3 4", "--output", source, "--html", name)
        assert (outcome.code, outcome.complaint) == (2, f"--output and --html name the same file, {name}: name two")
