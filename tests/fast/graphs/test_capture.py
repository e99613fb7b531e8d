"""Captures of CUDA graphs on a fake device: the state after a failed capture."""

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


def test_garbage_collection_is_off_during_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collecting another graph during a capture makes the capture fail."""
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
def test_a_failed_capture_restores_stream_memory_and_random_state(
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


def test_a_failed_repair_does_not_hide_the_original_error(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_graphs_share_a_given_memory_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    device, pool = Pretended(monkeypatch), object()
    assert captured(lambda: device.filling[:], pool) == [pool]
    assert captured(lambda: device.filling[:]) != [pool]


def test_a_failed_capture_keeps_no_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory is needed for the operations that are launched instead; garbage collection may come much later."""
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


def test_empty_cache_waits_for_captures_of_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for captures of other threads: during one, an old torch fails and a new one frees nothing."""
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
def test_each_graph_has_its_own_cublas_workspace(version: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From torch 2.12 on, destroying any graph frees the workspace that torch keeps for the stream."""
    device = Pretended(monkeypatch)
    monkeypatch.setattr(torch, "__version__", TorchVersion(version))
    assert captured(lambda: device.cleared) == times


def test_one_graph_is_captured_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all functions: torch has one capture stream, and synchronises the whole device before a capture."""
    device = Pretended(monkeypatch)
    others: list[object] = []
    other = Thread(target=lambda: others.append(captured(lambda: device.underway)))

    def interrupted() -> None:
        other.start()
        other.join(timeout=0.5)  # or it waits, as it should

    captured(interrupted)
    other.join()
    assert others == [1]


def test_each_device_has_its_own_capture_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always the same one, because captures of a stream share memory; another device's stream would capture nothing."""
    device = Pretended(monkeypatch)
    monkeypatch.setattr(capture, "_streams", {})
    for device.number in (0, 1, 0):
        captured(list)
    first, second, third = device.used
    assert first is third
    assert first is not second
