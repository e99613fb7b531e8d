"""Captures of CUDA graphs on a device that is only pretended: what a failed one leaves behind."""

import gc
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
import torch

from pretended import Pretended
from regard import capture
from regard.capture import capturing


def captured(run: Callable[[], Any]) -> Any:
    with capturing(torch.cuda.CUDAGraph()):
        return run()


def test_nothing_is_collected_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that is let go then, with the cycle it lives in, ends the capture with an error."""
    Pretended(monkeypatch)
    assert gc.isenabled()
    assert captured(gc.isenabled) is False
    assert gc.isenabled()

    def fail() -> None:
        raise torch.OutOfMemoryError("full")

    with pytest.raises(torch.OutOfMemoryError):
        captured(fail)
    assert gc.isenabled()


def test_a_capture_that_breaks_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch does not: what is launched instead would run beside the work that it needs the results of."""
    device = Pretended(monkeypatch)
    device.breaks = True
    with pytest.raises(RuntimeError, match="previous error"):
        captured(list)
    assert device.current == "default"
    assert device.told == [(0, device.pool)]  # that memory is no longer for this graph, which torch 2.11 forgets
    assert device.ended == 1  # an empty one, without which no random number would be drawn


def test_one_graph_is_captured_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whichever functions: torch has one stream for it, and waits for the whole device before it begins."""
    device = Pretended(monkeypatch)
    others: list[object] = []
    other = Thread(target=lambda: others.append(captured(lambda: device.underway)))

    def interrupted() -> None:
        other.start()
        other.join(timeout=0.5)  # or it waits, as it should

    captured(interrupted)
    other.join()
    assert others == [1]


def test_each_device_captures_on_a_stream_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always the same one, for memory is shared by the captures of a stream; another device's would capture nothing."""
    device = Pretended(monkeypatch)
    monkeypatch.setattr(capture, "_streams", {})
    for device.number in (0, 1, 0):
        captured(list)
    first, second, third = device.used
    assert first is third
    assert first is not second
