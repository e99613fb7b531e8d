"""Short versions of benchmarks/chaos.py: faults at file operations, and power losses; kills are in tests/training."""

import json
import os
import sys
from pathlib import Path
from random import Random

import pytest

from chaos.operations import Operation
from chaos.power import Disk
from processes import completed

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "chaos.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")


def figures(part: str, count: int) -> dict[str, object]:
    command = [sys.executable, "-W", "ignore", SCRIPT, "--part", part, f"--{part}", str(count)]
    done = completed(command, seconds=400, environment={"REGARD_CACHE": ""})
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_a_file_operation_that_fails_gives_one_message_and_loses_nothing() -> None:
    found = figures("faults", 18)
    assert not found["broken"], found["broken"]
    assert found["faults"] == 18


def test_a_checkpoint_survives_a_power_loss_at_any_moment() -> None:
    assert figures("images", 30)["images"] == 30


def test_the_modelled_disk_loses_what_was_not_synced(tmp_path: Path) -> None:
    def path(name: str) -> str:
        return os.path.join(tmp_path, name)

    disk = Disk(tmp_path)
    for operation in (
        Operation("create", path("draft")),
        Operation("write", path("draft"), data=b"new"),
        Operation("rename", path("draft"), path("file")),
    ):
        disk.apply(operation)
    assert disk.lose_power(Random(0), most=True) == {}
    disk.apply(Operation("fsync", str(tmp_path)))
    assert disk.lose_power(Random(0), most=True) == {"file": b""}, "renamed before its bytes were synced"
    disk.apply(Operation("fsync", path("file")))
    assert disk.lose_power(Random(0), most=True) == {"file": b"new"}
    disk.apply(Operation("write", path("file"), offset=3, data=b"er"))
    assert disk.lose_power(Random(0), most=True) == {"file": b"new"}
    seen = {str(disk.lose_power(Random(seed), most=False)["file"]) for seed in range(20)}
    assert seen == {"b'new'", "b'newe'", "b'newer'"}


@pytest.mark.parametrize("target", ["bundle", "recipe", "data", "onnx"])
def test_damaged_and_invented_input_gives_one_message(target: str, tmp_path: Path) -> None:
    if target == "onnx":
        pytest.importorskip("onnxruntime")
    command = [sys.executable, "-W", "ignore", SCRIPT.with_name("fuzz.py"), "--only", target, "--found", tmp_path]
    done = completed([*command, "--cases", "15", "--seconds", "300"], seconds=400)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["findings"], found["findings"]
    assert found["cases"] == 15
