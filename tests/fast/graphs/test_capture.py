"""Captures of CUDA graphs on a device that is only pretended: what a failed one leaves behind."""

import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext, suppress
from threading import Thread
from typing import Any

import pytest
import torch
from torch.torch_version import TorchVersion

from pretended import Pretended
from regard.fast.graphs import capture
from regard.fast.graphs.capture import capturing, empty_cache


class Large:
    """What stands for a tensor."""


def captured(run: Callable[[], Any], pool: object = None) -> Any:
    with capturing(torch.cuda.CUDAGraph(), pool):
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
    gc.disable()
    try:
        captured(list)
        assert not gc.isenabled()  # nobody asked for it
    finally:
        gc.enable()


@pytest.mark.parametrize("forgets", [True, False], ids=["2.11", "later"])
@pytest.mark.parametrize("breaks", [True, False], ids=["breaks", "ends"])
@pytest.mark.parametrize("kind", [torch.OutOfMemoryError, KeyboardInterrupt, None])
def test_a_capture_that_fails_leaves_everything_as_it_was(
    kind: type[BaseException] | None, breaks: bool, forgets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch does not: what is launched instead would run beside the work that it needs the results of.

    What went wrong within is said, and not only that the capture broke off for it: a caller lets graphs go where memory
    ends, and nobody may swallow an interruption.
    """
    device = Pretended(monkeypatch, forgets=forgets)
    device.breaks = int(breaks)

    def fail() -> None:
        if kind is not None:
            raise kind("within")

    wanted = kind or (RuntimeError if breaks else None)
    with nullcontext() if wanted is None else pytest.raises(wanted, match="within" if kind else "previous error"):
        captured(fail)
    assert device.current == "default"
    assert not device.filling
    assert not any(device.users.values())  # all memory can be given back
    assert device.ended  # at last an empty one, without which no random number would be drawn
    captured(list)
    assert len(set(device.used)) == 1


def test_what_cannot_be_mended_does_not_hide_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Pretended(monkeypatch)
    device.breaks = 2  # the empty one, too
    monkeypatch.setattr(torch, "__version__", TorchVersion("3.0"))
    for name in ("_cuda_endAllocateToPool", "_cuda_releasePool", "_cuda_clearCublasWorkspaces"):  # private, and may go
        monkeypatch.delattr(torch._C, name)

    def fail() -> None:
        raise ZeroDivisionError("within")

    with pytest.raises(ZeroDivisionError, match="within"):
        captured(fail)
    assert device.current == "default"


def test_graphs_share_the_memory_that_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    device, pool = Pretended(monkeypatch), object()
    assert captured(lambda: device.filling[:], pool) == [pool]
    assert captured(lambda: device.filling[:]) != [pool]


def test_nothing_of_a_capture_that_failed_is_held_on_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory is needed for what is launched instead, and the collector may not come by for long."""
    device = Pretended(monkeypatch)
    device.breaks = 1
    gone: list[weakref.ref[object]] = []

    def fail() -> None:
        large = Large()
        gone.append(weakref.ref(large))
        raise torch.OutOfMemoryError("full")

    gc.disable()
    try:
        with suppress(torch.OutOfMemoryError):
            captured(fail)
        assert gone[0]() is None
    finally:
        gc.enable()


def test_cached_memory_is_given_back_when_no_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread's capture is waited for: an old torch fails there, and a new one gives nothing back."""
    device = Pretended(monkeypatch)
    failed: list[BaseException] = []

    def give_back() -> None:
        try:
            empty_cache()
        except RuntimeError as error:
            failed.append(error)

    other = Thread(target=give_back)

    def interrupted() -> None:
        other.start()
        other.join(timeout=0.5)  # or it waits, as it should

    captured(interrupted)
    before = device.given
    other.join()
    empty_cache()
    assert not failed
    assert device.given > before


@pytest.mark.parametrize(("version", "times"), [("2.9.1", 0), ("2.11.0+cu128", 0), ("2.12.0+cu130", 1), ("3.0", 1)])
def test_products_in_a_graph_work_in_memory_of_that_graph(
    version: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 2.12 on any other graph that is let go takes the one that torch keeps for the stream with it."""
    device = Pretended(monkeypatch)
    monkeypatch.setattr(torch, "__version__", TorchVersion(version))
    assert captured(lambda: device.cleared) == times


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
