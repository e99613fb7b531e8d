"""`regard translate` on a pipe that stays open, and the options of its search."""

import os
import stat
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from processes import started
from regard.cli.arriving import ArrivingLines

from .conftest import Command


def test_a_program_gets_an_answer_before_it_writes_the_next_line(run_folder: Path) -> None:
    words = [sys.executable, "-m", "regard", "translate", str(run_folder)]
    with started(words, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answer in ((b"3 4 5\n", b"5 4 3\n"), (b"6 7 8\n", b"8 7 6\n"), (b"\n", b"\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.write(b"3 4 5\n6 7 8\n9 8")  # half a line delays no answer
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [b"5 4 3\n", b"8 7 6\n"]
        process.stdin.write(b" 7")
        process.stdin.close()
        assert process.stdout.read() == b"7 8 9\n"
        assert process.wait(60) == 0


def test_a_named_pipe_answers_line_by_line_too(run_folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    words = [sys.executable, "-m", "regard", "translate", str(run_folder), "--input", str(pipe)]
    with started(words, stdout=PIPE) as process, pipe.open("wb", buffering=0) as file:
        assert process.stdout is not None
        file.write(b"3 4 5\n")
        assert process.stdout.readline() == b"5 4 3\n"


def test_lines_that_have_arrived_are_translated_together() -> None:
    reader, writer = os.pipe()
    os.write(writer, "a\r\nb\nç".encode()[:-1])
    batches = ArrivingLines(reader, "pipe").batches(2)
    assert next(batches) == ["a", "b"]
    os.write(writer, "ç".encode()[-1:] + b"\n\nd")
    os.close(writer)
    assert list(batches) == [["ç", ""], ["d"]]
    os.close(reader)


def test_targets_are_scored_and_aligned(command: Command, run_folder: Path, tmp_path: Path) -> None:
    outcome = command("translate", run_folder, "3 4 5", "6 7", "--target", "5 4 3", "--target", "6", "--alignment")
    assert [line.split("\t")[0] for line in outcome.out.splitlines()] == ["5 4 3", "6"]
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("3 4 5\n6 7\n", encoding="utf-8")
    target.write_text("5 4 3\n6\n", encoding="utf-8")
    assert command("translate", run_folder, "--input", source, "--target", target).out == "5 4 3\n6\n"
    target.write_text("5 4 3\n", encoding="utf-8")
    refused = command("translate", run_folder, "--input", source, "--target", target)
    assert "2 lines in" in refused.complaint
    assert refused.code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["3 4", "--target", "4", "--target", "3"], "1 texts but 2 of --target: give one for each"),
        (["--target", "4"], "--target needs TEXT arguments, or one file with --input FILE"),
        (["3 4", "--temperature", "0"], "temperature = 0.0: expected more than 0"),
        (["3 4", "--temperature", "1", "--beam", "3"], "temperature means sampling and beam 3 means beam search"),
        (["3 4", "--length-penalty", "-1"], "length_penalty = -1.0: expected at least 0"),
    ],
)
def test_wrong_search_options(command: Command, run_folder: Path, options: list[str], message: str) -> None:
    outcome = command("translate", run_folder, *options)
    assert outcome.code == 2
    assert message in outcome.complaint


def test_search_options_change_the_search(command: Command, run_folder: Path) -> None:
    sampled = command("translate", run_folder, "3 4 5 6", "--temperature", 50, "--nbest", 4).out.splitlines()
    assert len({line.split("\t")[2] for line in sampled}) > 1
    scores = [
        command("translate", run_folder, "3 4 5", "--nbest", 2, "--length-penalty", penalty).out.split("\t")[1]
        for penalty in (0, 1)
    ]
    assert scores[0] != scores[1]


def test_an_unknown_number_is_reported_with_the_known_ones(command: Command, run_folder: Path) -> None:
    outcome = command("translate", run_folder, "3 4 777")
    assert "unknown to this model: '777' (it reads the numbers from 3 to " in outcome.err
