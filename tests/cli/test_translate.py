"""`regard translate`: arguments, files and streams in; lines, JSON, alignments, walks and pages out."""

import json
import os
import pty
import select
import signal
import sys
import time
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

import regard
from processes import started, wait_until

from .conftest import Command, Outcome

ENVIRONMENT = {"TERM": "xterm", "COLUMNS": "80"}


def test_arguments_become_lines(command: Command, run_folder: Path) -> None:
    assert command("translate", run_folder, "3 4 5", "6 7 8 9") == Outcome(0, "5 4 3\n9 8 7 6\n", "")
    assert command("translate", run_folder / "best", "3 4 5").out == "5 4 3\n"


def test_standard_input_becomes_lines_one_for_each(command: Command, run_folder: Path) -> None:
    outcome = command("translate", run_folder, stdin="3 4 5\r\n\n6 7 8\u2028 9\n4 5 6".encode())
    assert outcome.code == 0
    assert outcome.out == "5 4 3\n\n9 8 7 6\n6 5 4\n"
    assert outcome.err == "regard: line 2: blank: nothing to translate\n"
    assert command("translate", run_folder, stdin=b"") == Outcome(0, "", "")


def test_files_in_and_out(command: Command, run_folder: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "new" / "out.txt"
    target.parent.mkdir()
    source.write_text("".join(f"{i % 9 + 3} 4 5\n" for i in range(600)), encoding="utf-8")
    outcome = command("translate", run_folder, "--input", source, "--output", target)
    assert (outcome.code, outcome.out) == (0, "")
    lines = target.read_text(encoding="utf-8").split("\n")
    assert len(lines) == 601
    assert lines[:3] == ["5 4 3", "5 4 4", "5 4 5"]
    assert list(target.parent.iterdir()) == [target]
    # A file may be replaced by its own translation.
    assert command("translate", run_folder, "--input", target, "--in-place").code == 0
    assert target.read_text(encoding="utf-8").split("\n")[:3] == ["3 4 5", "4 4 5", "5 4 5"]


def test_a_page_never_replaces_an_input(command: Command, run_folder: Path, tmp_path: Path) -> None:
    source, other_name = tmp_path / "in.txt", tmp_path / "link.txt"
    source.write_text("3 4 5\n", encoding="utf-8")
    other_name.symlink_to(source)
    outcome = command("translate", run_folder, "--input", source, "--html", other_name)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"regard: --html {other_name} is also an input: name another file\n"
    assert source.read_text(encoding="utf-8") == "3 4 5\n"


def test_devices_and_pipes_are_read_and_written_directly(command: Command, run_folder: Path) -> None:
    assert command("translate", run_folder, "--input", "/dev/null", "--output", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


def test_the_nbest_column_is_the_normalised_score_of_the_api(command: Command, run_folder: Path) -> None:
    lines = command("translate", run_folder, "--nbest", 2, "3 4 5").out.splitlines()
    best = regard.load(run_folder).translate("3 4 5", nbest=2)
    wanted = [f"{one.normalised_score:.4f}" for one in (best, *best.alternatives)]
    assert [line.split("\t")[1] for line in lines] == wanted
    assert "number, normalised score, text" in " ".join(command("translate", "--help").out.split())


def test_nbest_lines_bear_the_number_of_their_text(command: Command, run_folder: Path) -> None:
    outcome = command("translate", run_folder, "--nbest", 3, "3 4 5", "", "6 7 8")
    rows = [line.split("\t") for line in outcome.out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    assert rows[0][2] == "5 4 3"
    assert float(rows[0][1]) >= float(rows[1][1]) >= float(rows[2][1])


def test_json_lines_hold_everything(command: Command, run_folder: Path) -> None:
    outcome = command("translate", run_folder, "--json", "--beam", 2, "3 4 5", "")
    first, second = (json.loads(line) for line in outcome.out.splitlines())
    assert first["target"]["text"] == "5 4 3"
    assert first["attention"]["shape"] == [1, 1, 4, 3]
    assert first["alignment"] == [[0, 2], [1, 1], [2, 0]]
    assert second["target"]["text"] == ""


def test_alignments_are_pharaoh_links_counted_from_0(command: Command, run_folder: Path) -> None:
    assert command("translate", run_folder, "--alignment", "3 4 5", "").out == "5 4 3\t0-2 1-1 2-0\n\t\n"


def test_the_walk_shows_every_step_without_escape_codes(
    command: Command, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    outcome = command("translate", run_folder, "--walk", "3 4 5")
    assert outcome.out.startswith("5 4 3\n1 5 ")
    assert "p 0.9" in outcome.out or "p 1.0" in outcome.out
    assert outcome.out.count("%") >= 4
    assert "\x1b" not in outcome.out


def test_the_walk_goes_into_the_file_too(command: Command, run_folder: Path, tmp_path: Path) -> None:
    command("translate", run_folder, "--walk", "3 4 5", "--output", tmp_path / "walk.txt")
    assert (tmp_path / "walk.txt").read_text(encoding="utf-8").startswith("5 4 3\n1 5 ")


def test_a_page_with_heat_maps(command: Command, run_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = command("translate", run_folder, "--html", page, "3 4 5", "", "7 8 9")
    assert outcome.out == "5 4 3\n\n9 8 7\n"
    assert f"regard: written: {page}\n" in outcome.err
    body, _, _ = page.read_text(encoding="utf-8").partition("<script")  # the script has templates of its own
    assert body.count("<article") == 2
    assert "was not written: there is no translation" in command("translate", run_folder, "--html", page, "").err


def test_a_model_without_attention_prints_a_note_and_continues(command: Command, vanilla: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = command("translate", vanilla, "--walk", "--alignment", "--html", page, "the cat")
    assert outcome.code == 0
    assert "one fixed vector, no alignment exists" in outcome.out
    assert "One fixed vector, no alignment exists" in page.read_text(encoding="utf-8")
    assert json.loads(command("translate", vanilla, "--json", "the cat").out)["attention"] is None


def test_several_layers_and_heads(command: Command, transformer: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = command("translate", transformer, "--walk", "--alignment", "--html", page, "the black cat")
    assert outcome.code == 0
    assert page.exists()
    data = json.loads(command("translate", transformer, "--json", "the black cat").out)
    assert data["attention"]["shape"][:2] == [2, 2]


def test_an_ensemble_translates(command: Command, run_folder: Path, vanilla: Path) -> None:
    assert command("translate", run_folder, "--ensemble", run_folder / "last", "3 4 5").out == "5 4 3\n"
    outcome = command("translate", run_folder, "--ensemble", vanilla, "3 4 5")
    assert outcome.code == 2
    assert "have different vocabularies" in outcome.complaint


def test_many_warnings_are_counted_not_printed(command: Command, run_folder: Path) -> None:
    outcome = command("translate", run_folder, stdin=b"\n" * 25)
    assert outcome.out == "\n" * 25
    lines = outcome.err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "regard: 15 further warnings are not shown"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "x", "3 4"], "texts and --input were both given: leave one of them out"),
        (["--json", "--walk", "3 4"], "--json holds alignment and attention already"),
        (["--beam", "-1", "3 4"], "beam = -1: expected at least 1"),
        (["--nbest", "0", "3 4"], "nbest = 0: expected at least 1"),
        (["--beam", "2", "--nbest", "3", "3 4"], "nbest 3 is more than beam 2 can find; raise beam to 3"),
        (["--device", "gpu7", "3 4"], "device 'gpu7' cannot be used here"),
        (["caf\udce9"], "half of a surrogate pair"),
        (["--workers", "2", "3 4"], "--workers needs --engine: add --engine local or --engine ray"),
        (["--engine", "local", "--workers", "2"], "--engine local translates files and does not take --workers"),
        (["--engine", "ray", "--json"], "--engine ray translates files and does not take --json"),
        (["--engine", "ray", "--gpus-per-worker", "nan"], "--gpus-per-worker nan: expected 0 to 1,024"),
    ],
    ids=[
        "texts and input",
        "json and walk",
        "negative beam",
        "nbest 0",
        "nbest above beam",
        "device",
        "bytes",
        "workers alone",
        "workers of local",
        "json of ray",
        "gpus",
    ],
)
def test_wrong_options_are_refused(command: Command, run_folder: Path, arguments: list[str], message: str) -> None:
    outcome = command("translate", run_folder, *arguments)
    assert outcome.code == 2
    assert message in outcome.complaint


def start(*arguments: object, **options: Any) -> "AbstractContextManager[Popen[bytes]]":
    line = [sys.executable, "-m", "regard", *(str(argument) for argument in arguments)]
    return started(line, environment=ENVIRONMENT, **options)


def test_a_closed_pipe_ends_it_quietly(run_folder: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("3 4 5\n" * 5000, encoding="utf-8")
    with start("translate", run_folder, "--input", lines, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"5 4 3\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_ctrl_c_keeps_the_translations_so_far(run_folder: Path, tmp_path: Path) -> None:
    output, draft = tmp_path / "out.txt", tmp_path / "out.txt.part"
    with start("translate", run_folder, "--output", output, stdin=PIPE, stderr=PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"3 4 5\n" * 300)
        process.stdin.flush()
        drafts = partial(tmp_path.glob, ".out.txt-*.part")
        wait_until(lambda: any(path.stat().st_size for path in drafts()), process, "anything was translated")
        process.send_signal(signal.SIGINT)
        printed = process.stderr.read().decode()
        assert process.wait(60) == 130
    assert printed == f"regard: the output so far is in {draft}\nregard: interrupted\n"
    assert draft.read_text(encoding="utf-8") in ("5 4 3\n" * 256, "5 4 3\n" * 300)
    assert not output.exists()


def test_ctrl_c_says_that_the_same_command_continues(run_folder: Path, tmp_path: Path) -> None:
    lines, output = tmp_path / "lines.txt", tmp_path / "out"
    lines.write_text("3 4 5\n" * 100_000, encoding="utf-8")
    engine = ["--engine", "local", "--input", lines]
    with start("translate", run_folder, *engine, "--output", output, stderr=PIPE) as process:
        assert process.stderr is not None
        wait_until(lambda: any(output.glob("*/*")), process, "the first part was begun")
        process.send_signal(signal.SIGINT)
        printed = process.stderr.read().decode()
        assert process.wait(60) == 130, printed
    assert printed == (
        f"regard: the finished parts are in {output}; the same command translates the missing ones\n"
        "regard: interrupted\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output(run_folder: Path) -> None:
    with (
        open("/dev/full", "wb") as full,
        start("translate", run_folder, "3 4 5", stdout=full, stderr=PIPE) as process,
    ):
        assert process.stderr is not None
        assert process.stderr.read().decode() == "regard: standard output: No space left on device\n"
        assert process.wait(60) == 1


def test_a_prompt_on_a_terminal(run_folder: Path) -> None:
    terminal, side = pty.openpty()
    with start("translate", run_folder, stdin=side, stdout=side, stderr=side) as process:
        os.close(side)
        seen = _read_until(terminal, "> ")
        assert "Type a sentence; an empty line ends." in seen
        os.write(terminal, b"3 4 5\n")
        seen = _read_until(terminal, "> ")
        assert "5 4 3" in seen
        assert "rows: written, columns: read" in seen
        assert "\x1b[" in seen
        os.write(terminal, b"7 zebra\n")
        assert "unknown to this model: 'zebra'" in _read_until(terminal, "> ")
        os.write(terminal, b"\n")
        assert process.wait(60) == 0
    os.close(terminal)


def test_a_text_on_a_terminal_is_followed_by_its_heat_map(run_folder: Path) -> None:
    terminal, side = pty.openpty()
    with start("translate", run_folder, "3 4 5", stdout=side, stderr=side) as process:
        os.close(side)
        seen = _read_until(terminal, "75\x1b[0m\r\n\r\n")
        assert process.wait(60) == 0
    os.close(terminal)
    assert seen.startswith("5 4 3\r\n")
    assert "rows: written, columns: read" in seen


def _read_until(terminal: int, mark: str) -> str:
    seen = ""
    deadline = time.monotonic() + 60
    while not seen.endswith(mark):
        assert time.monotonic() < deadline, f"no {mark!r} in {seen!r}"
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 4096).decode(errors="replace")
    return seen
