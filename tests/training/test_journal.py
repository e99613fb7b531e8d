"""The journal: valid JSON lines for any sentence and loss, rewound to the checkpoint on resume."""

import json
import math
from pathlib import Path

import pytest

from regard.text.input_error import InputError
from regard.training.journal import Finished, Journal, Stepped, Validated, Warned, read_journal


def stepped(step: int, loss: float = 1.5) -> Stepped:
    return Stepped(step, 0, loss, 0.1, 2.0, 99.5, 0.25)


def test_every_event_is_one_line_of_json_even_with_odd_characters_and_no_number(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    sample = ("a\u2028b", "été\x85", "लाइट\n")
    journal.write(stepped(1, math.nan))
    journal.write(Validated(1, 0, math.inf, 2.0, "bleu", 3.0, True, sample, 1.0))
    lines = (tmp_path / "journal.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines[-1] == ""
    first, second = [json.loads(line, parse_constant=pytest.fail) for line in lines[:-1]]
    assert (first["event"], first["loss"], first["rate"]) == ("step", None, 0.1)
    assert (second["train_loss"], tuple(second["sample"])) == (None, sample)
    assert read_journal(tmp_path / "journal.jsonl") == [first, second]


def test_listeners_get_every_written_event(tmp_path: Path) -> None:
    received: list[object] = []
    Journal(tmp_path, [received.append, received.append]).write(stepped(1))
    assert received == [stepped(1)] * 2


def test_rewinding_removes_later_steps_the_end_and_a_partial_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for event in (stepped(1), Warned(1, "odd"), stepped(2), Warned(2, "later"), Finished(2, "steps", None, None, 1.0)):
        journal.write(event)
    with journal.path.open("ab") as file:
        file.write('{"event": "step", "sample": "é'.encode()[:-1])
    journal.rewind(1)
    assert [(entry["event"], entry["step"]) for entry in read_journal(journal.path)] == [("step", 1), ("warning", 1)]
    journal.write(stepped(2))
    assert [entry["step"] for entry in read_journal(journal.path)] == [1, 1, 2]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    (tmp_path / "journal.jsonl").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"cannot write .*journal.jsonl: the disk is full"):
        Journal(tmp_path).write(stepped(1))
    with pytest.raises(InputError, match=r"cannot write .*nowhere.journal.jsonl"):
        Journal(tmp_path / "nowhere").write(stepped(1))
