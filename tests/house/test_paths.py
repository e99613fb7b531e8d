"""How many files lie between a command and its equation: a reader follows the call stack, file by file."""

import re
import runpy
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

import regard
from regard.cli.main import run

PACKAGE = Path(str(regard.__file__)).parent
COUNTS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "house_counts.py"))
"""The script that counts the lines of these paths, for the table in docs/decisions/0004."""
LAUNCHERS = ("cli/main.py", "registry.py")
"""On every stack, but no part of the computation: the start of the program, and the decorator of plain functions."""


class _Reached(BaseException):
    """Ends the command at the equation."""


def files_to(equation: str, then: str, command: list[str], patch: Callable[[Callable[..., Any]], None]) -> list[str]:
    """The files of the package on the stack of `command` when `equation` is computed, by way of `then`."""
    found: list[str] = []

    def stop(*args: Any, **options: Any) -> None:
        frames = [Path(frame.filename) for frame in traceback.extract_stack()]
        names = [one.relative_to(PACKAGE).as_posix() for one in frames if one.is_relative_to(PACKAGE)]
        if names[-1] == equation and then in names:
            found.extend(dict.fromkeys(names))
            raise _Reached

    patch(stop)
    with pytest.raises(_Reached):
        run(command)
    return [name for name in found if name not in LAUNCHERS]


def observing(monkeypatch: pytest.MonkeyPatch, place: object, name: str) -> Callable[[Callable[..., Any]], None]:
    real = getattr(place, name)

    def patch(stop: Callable[..., Any]) -> None:
        monkeypatch.setenv("REGARD_PLAIN", "1")
        monkeypatch.setattr(place, name, lambda *args, **options: (stop(), real(*args, **options))[1])

    return patch


def test_translate_reaches_the_attention_equation_through_seven_files(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["translate", "demo-en-fr", "I love you."]
    patch = observing(monkeypatch, torch, "tanh")
    found = files_to("attention/additive/functional.py", "search/decode.py", command, patch)
    assert found == list(COUNTS["PATHS"]["regard translate to the attention equation"])
    assert len(found) <= 7


def test_train_reaches_the_loss_through_six_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = ["train", "reverse", "--out", str(tmp_path / "run")]
    command += ["--set", "data.train=200", "--set", "train.device=cpu"]
    patch = observing(monkeypatch, functional, "cross_entropy")
    found = files_to("models/cross_entropy.py", "training/training_loop.py", command, patch)
    assert found == list(COUNTS["PATHS"]["regard train to the loss"])
    assert len(found) <= 6
    assert sum(map(COUNTS["lines"], found)) <= 900


def test_contributing_lists_the_paths() -> None:
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text[text.index("**Follow a call.**") : text.index("**Files.**")]
    listed = re.findall(r"`([\w/]+\.py)`", section)
    assert listed == [name for path in COUNTS["PATHS"].values() for name in path]


def test_the_decoder_fits_on_a_few_screens() -> None:
    assert COUNTS["lines"]("models/rnn/decoder.py") <= 200
