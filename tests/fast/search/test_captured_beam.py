"""Captured search of a few sentences equals the loop on the host, for models whose steps are alike."""

from collections.abc import Iterator
from contextlib import nullcontext
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor

from fast.graphs.interrupted import Interrupted
from models.zoo import EVERY, MECHANISMS, Config, Sentences, build, recurrent, sentences, shared
from pretended import Pretended
from regard.fast.graphs.capture import LaunchedWarning
from regard.fast.search import captured_beam, search_entries
from regard.fast.search.search_entries import beam_captured, greedy_captured, search_captured
from regard.fast.search.step_identity import step_key
from regard.models import RecurrentConfig, Seq2Seq
from regard.models.rnn.decoder import RecurrentDecoder
from regard.search import Ensemble, Options, beam_search
from regard.search.stepper import Stepper

SOURCES = ([5, 6, 7, 8, 3], [9, 4, 3], [10, 8, 6, 3])
LIMITS = torch.tensor([8, 3, 9])
Words = list[list[tuple[int, ...]]]


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    search_entries._searches.clear()
    yield
    search_entries._searches.clear()


def found(model: Stepper, source: object, limits: Tensor, beam: int, nbest: int) -> Words | None:
    if step_key(model) is None:
        return None
    groups = search_captured(model, source, limits, beam, nbest, Options())
    return None if groups is None else [[one.tokens for one in group] for group in groups]


def wanted(model: Stepper, source: object, limits: Tensor, beam: int, nbest: int) -> Words:
    return [[one.tokens for one in group] for group in beam_search(model, source, limits, beam=beam, nbest=nbest)]


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_captured_search_equals_the_plain_loop(config: Config) -> None:
    model, source = shared(config).eval(), sentences(*SOURCES)
    ours = isinstance(config, RecurrentConfig) and ":" not in config.score
    alike = ours and config.window != "local-m"
    for beam, nbest in ((3, 2), (1, 1)):
        words = found(model, source, LIMITS, beam, nbest)
        assert words == (wanted(model, source, LIMITS, beam, nbest) if alike else None)


def test_the_buffers_are_reused_for_the_next_sentences() -> None:
    model = build(recurrent()).eval()
    for rows in (SOURCES, ([4, 4, 4, 4, 3], [5, 9, 10, 3], [8, 3])):
        assert found(model, sentences(*rows), LIMITS, 3, 1) == wanted(model, sentences(*rows), LIMITS, 3, 1)
    assert len(search_entries._searches[model]) == 1


def test_captured_search_of_an_ensemble() -> None:
    both = Ensemble([build(recurrent()).eval(), build(recurrent(cell="lstm")).eval()])
    assert found(both, sentences(*SOURCES), LIMITS, 3, 1) == wanted(both, sentences(*SOURCES), LIMITS, 3, 1)
    mixed = Ensemble([build(recurrent()).eval(), build(recurrent(window="local-m", reach=2)).eval()])
    assert found(mixed, sentences(*SOURCES), LIMITS, 3, 1) is None


def test_attention_stays_when_the_next_search_uses_the_same_buffers() -> None:
    """Another thread's search may, before the caller reads the attention of the first."""
    model, others = build(recurrent()).eval(), ([4, 4, 4, 4, 3], [5, 9, 10, 3], [8, 3])
    right = beam_search(model, sentences(*SOURCES), LIMITS, beam=3)
    ours, _ = (search_captured(model, sentences(*rows), LIMITS, 3, 1, Options()) for rows in (SOURCES, others))
    assert len(search_entries._searches[model]) == 1
    assert ours is not None
    assert [one.tokens for (one,) in ours] == [one.tokens for (one,) in right]
    for (one,), (hypothesis,) in zip(ours, right, strict=True):
        torch.testing.assert_close(one.weights, hypothesis.weights)


def test_threads_may_evict_each_others_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread has looked up its buffers and not yet used them when another thread evicts them."""
    monkeypatch.setattr(search_entries, "SHAPES", 1)
    model, source, others = build(recurrent()).eval(), sentences(*SOURCES), list[Words | None]()
    other = Thread(target=lambda: others.append(found(model, source, LIMITS, 2, 1)))
    search_entries._searches[model] = Interrupted(other)
    assert found(model, source, LIMITS, 3, 1) == wanted(model, source, LIMITS, 3, 1)
    other.join()
    assert others == [wanted(model, source, LIMITS, 2, 1)]


def test_while_another_thread_uses_the_buffers_the_plain_loop_runs() -> None:
    model, source = build(recurrent()).eval(), sentences(*SOURCES)
    for beam in (3, 1):
        assert found(model, source, LIMITS, beam, 1) is not None
    kept = list(search_entries._searches[model].values())
    runs = [one._runs for one in kept]
    with kept[0].busy, kept[1].busy:
        assert found(model, source, LIMITS, 3, 1) is None
        words = [[one.tokens for one in group] for group in beam_captured(model, source, LIMITS, beam=3)]
        assert words == wanted(model, source, LIMITS, 3, 1)
        words = [[one.tokens] for one in greedy_captured(model, source, LIMITS)]
        assert words == wanted(model, source, LIMITS, 1, 1)
    assert [one._runs for one in kept] == runs


def test_a_step_that_cannot_be_captured_leaves_the_current_stream_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch does not restore it: the launched steps would run concurrently with work that they depend on."""
    model, source = build(recurrent()).eval(), sentences(*SOURCES)
    assert found(model, source, LIMITS, 3, 1) is not None
    (one,) = search_entries._searches[model].values()
    device = Pretended(monkeypatch)
    device.breaks = 1
    with pytest.warns(LaunchedWarning, match="could not be captured"), torch.no_grad():
        assert one._captured(model) is None
    assert device.current == "default"


def test_out_of_memory_during_capture_gives_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step is launched instead, and torch's warning about an empty graph is suppressed."""
    model, source = build(recurrent()).eval(), sentences(*SOURCES)
    assert found(model, source, LIMITS, 3, 1) is not None
    (one,) = search_entries._searches[model].values()
    device = Pretended(monkeypatch)
    device.empty = True

    def full(stepper: Stepper) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(one, "_step", full)
    assert one._captured(model) is None  # and a warning would be an error here
    assert device.current == "default"


def test_one_step_is_captured_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch has one capture stream, and synchronises the whole device before a capture."""
    model, source = build(recurrent()).eval(), sentences(*SOURCES)
    for beam in (2, 3):
        assert found(model, source, LIMITS, beam, 1) is not None
    one, another = search_entries._searches[model].values()
    device, others = Pretended(monkeypatch), list[Any]()

    def record() -> None:
        with torch.no_grad():
            others.append(another._captured(model))

    other, step = Thread(target=record), one._step

    def interrupted(stepper: Stepper) -> None:
        other.start()
        other.join(timeout=0.5)  # or it waits, as it should
        step(stepper)

    monkeypatch.setattr(one, "_step", interrupted)
    with torch.no_grad():
        assert one._captured(model) is not None
    other.join()
    assert others[0] is not None
    assert device.underway == 0


def test_the_cache_key_of_a_step() -> None:
    """Equal for the same model; different for another attention, another address of a weight, or training mode."""
    model, other = build(recurrent()).eval(), build(recurrent()).eval()
    decoder = model.decoder
    assert isinstance(decoder, RecurrentDecoder)
    before = step_key(model)
    assert before is not None
    assert hash(before) == hash(step_key(model))
    assert before == step_key(model)
    assert before != step_key(other)
    with torch.no_grad():
        decoder.readout.output.weight.mul_(2)
    assert before == step_key(model)
    kept = decoder.readout.output.weight.data
    decoder.readout.output.weight.data = kept.clone()
    assert before != step_key(model)
    decoder.readout.output.weight.data = kept
    assert before == step_key(model)
    mine, decoder.attention = decoder.attention, other.decoder.attention
    assert before != step_key(model)
    decoder.attention = mine
    assert before == step_key(model)
    assert step_key(model.train()) is None


def test_the_cache_key_includes_the_precision() -> None:
    model = build(recurrent()).eval()
    before = torch.get_float32_matmul_precision()
    kept = step_key(model)
    try:
        torch.set_float32_matmul_precision("highest" if before != "highest" else "high")
        assert step_key(model) != kept
    finally:
        torch.set_float32_matmul_precision(before)


gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def on_gpu(*rows: list[int]) -> Sentences:
    source = sentences(*rows)
    return Sentences(source.source.cuda(), source.source_lengths.cuda())


def by_graph(model: Seq2Seq, *rows: list[int], beam: int = 3) -> Words:
    groups = beam_search(model, on_gpu(*rows), LIMITS[: len(rows)].cuda(), beam=beam)
    return [[one.tokens for one in group] for group in groups]


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("config", MECHANISMS.values(), ids=MECHANISMS.keys())
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["double", "float"])
def test_the_graph_gives_the_same_hypotheses(config: Config, dtype: torch.dtype) -> None:
    host = build(config).to(dtype).eval()
    model = build(config).to(dtype).cuda().eval()
    for rows in (SOURCES, ([4, 4, 4, 4, 3], [5, 9, 10, 3], [8, 3]), SOURCES):
        assert by_graph(model, *rows) == wanted(host, sentences(*rows), LIMITS, 3, 1)
    rounds = search_entries._searches.get(model, {})
    assert all(one.graph is not None for one in rounds.values())
    assert bool(rounds) == (step_key(model) is not None)


@gpu
@pytest.mark.gpu
def test_changes_of_the_model_are_not_replayed_from_old_graphs() -> None:
    """New values in a weight, a weight at another address, another attention: never the old graph."""
    host, model = build(recurrent()).eval(), build(recurrent()).cuda().eval()
    other_host, other = build(recurrent(score="general")).eval(), build(recurrent(score="general")).cuda().eval()

    def agree() -> None:
        assert by_graph(model, *SOURCES) == wanted(host, sentences(*SOURCES), LIMITS, 3, 1)

    agree()
    for one in (host, model):
        with torch.no_grad():
            one.output.weight.neg_()
    agree()
    for one in (host, model):
        one.output.weight.data = one.output.weight.data.flip(0).contiguous()
    agree()
    host.decoder.attention, model.decoder.attention = other_host.decoder.attention, other.decoder.attention
    agree()


@gpu
@pytest.mark.gpu
def test_under_inference_mode_and_without() -> None:
    host, model = build(recurrent()).eval(), build(recurrent()).cuda().eval()
    right = wanted(host, sentences(*SOURCES), LIMITS, 3, 1)
    assert by_graph(model, *SOURCES) == right
    with torch.inference_mode():
        assert by_graph(model, *SOURCES) == right
        assert by_graph(model, *SOURCES) == right
    assert by_graph(model, *SOURCES) == right


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["memory", "look"])
def test_a_failed_capture_does_not_change_the_hypotheses(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host, model = build(recurrent()).eval(), build(recurrent()).cuda().eval()
    right, step = wanted(host, sentences(*SOURCES), LIMITS, 3, 1), captured_beam.CapturedSearch._step

    def broken(self: captured_beam.CapturedSearch, stepper: Stepper) -> None:
        step(self, stepper)
        if torch.cuda.is_current_stream_capturing():
            if kind == "memory":
                torch.empty(1 << 44, device="cuda")
            assert int(self._tokens.sum()) >= 0

    with monkeypatch.context() as patch:
        patch.setattr(captured_beam.CapturedSearch, "_step", broken)
        with nullcontext() if kind == "memory" else pytest.warns(LaunchedWarning, match="could not be captured"):
            assert by_graph(model, *SOURCES) == right
        assert by_graph(model, *SOURCES) == right
        (one,) = search_entries._searches[model].values()
        assert one.graph is None
    search_entries._searches.clear()
    torch.cuda.empty_cache()
    assert by_graph(model, *SOURCES) == right
    (one,) = search_entries._searches[model].values()
    assert one.graph is not None
