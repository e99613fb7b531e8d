"""Triton kernels of the recurrences, run by the interpreter, in other tilings; and how graphs of shapes are kept."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from interpreter import INTERPRETED, kernels
from models.zoo import Sentences
from regard.fast.graphs.capture import LaunchedWarning
from regard.fast.graphs.replay import MOST, MOST_WASTED, PAID_OFF, GraphCache, Replay, _Shape, forget_graphs
from regard.fast.recurrent import bahdanau_launch as decoder
from regard.models import Seq2Seq
from regard.models.model_config import RecurrentConfig

interpreted = pytest.mark.skipif(not INTERPRETED, reason="on a GPU, test_gpu.py runs the kernels themselves")
SOURCE, TARGET, UNITS = 9, 3, 12


def sentences(*lengths: int) -> Sentences:
    """Rows of these lengths, padded to SOURCE."""
    words = torch.randint(4, 20, (len(lengths), SOURCE), generator=torch.Generator().manual_seed(1))
    ends = torch.tensor(lengths)
    return Sentences(torch.where(torch.arange(SOURCE)[None] < ends[:, None], words, 0), ends)


def build(**changes: Any) -> Seq2Seq:
    sizes = {"embedding": 6, "encoder_units": UNITS, "decoder_units": UNITS, "attention_width": 10, "dropout": 0.0}
    torch.manual_seed(0)
    return Seq2Seq(RecurrentConfig(**{**sizes, **changes}), 20, 21)


def run(model: Seq2Seq, source: Sentences) -> dict[str, Tensor]:
    """Features, weights and every gradient."""
    tokens = torch.randint(4, 21, (len(source.source), TARGET), generator=torch.Generator().manual_seed(2))
    model.zero_grad()
    decoded = model(source, tokens, want_weights=True)
    assert decoded.weights is not None
    (decoded.features.float().square().sum() + decoded.weights.float().pow(3).sum()).backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    return {"features": decoded.features.detach(), "weights": decoded.weights.detach(), **gradients}


def compare(found: dict[str, Tensor], wanted: dict[str, Tensor], tolerance: float) -> None:
    assert found.keys() == wanted.keys()
    largest = max(float(tensor.abs().max()) for tensor in wanted.values())
    for name, right in wanted.items():
        size = max(float(right.abs().max()), 1e-2 * largest)  # small gradients are differences of large terms
        torch.testing.assert_close(found[name].float(), right.float(), rtol=0, atol=tolerance * size, msg=name)


@interpreted
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("unrolled", [True, False])
def test_products_in_parts_and_loops_that_are_not_unrolled(
    cell: str, unrolled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes whose backward product is split; all loads at once, or in a loop."""
    width = 8 if cell == "gru" else 16
    assert decoder._parts(width + (3 if cell == "gru" else 4) * 8) > 1
    model = build(cell=cell, decoder_units=8, attention_width=width)
    plain = run(model, sentences(7, 1, 4, 0))
    with kernels():
        if not unrolled:
            monkeypatch.setattr(decoder, "UNROLLED", 4)
            monkeypatch.setattr(decoder, "LONG", replace(decoder.LONG, mix_back=(4, 2, 2)))
        compare(run(model, sentences(7, 1, 4, 0)), plain, 2e-5)


@interpreted
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("unrolled", [True, False])
def test_every_sentence_in_several_tiles(cell: str, unrolled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in models whose states and sentences are larger than a tile; the last tile of each is not full."""
    tiles = decoder.Tiles((2, 4, 1), (2, 8, 1), (2, 8, 1), (2, 4, 1), (8, 1), unrolled)
    model, source = build(cell=cell), sentences(5, 0, 9)  # the last programs have something to do
    plain = run(model, source)
    monkeypatch.setattr(decoder, "TILES", tiles)
    with kernels():
        compare(run(model, source), plain, 2e-5)


@interpreted
def test_activation_checkpointing_of_a_model_works() -> None:
    model, source = build(), sentences(7, 1, 4)
    tokens = torch.randint(4, 21, (3, TARGET), generator=torch.Generator().manual_seed(2))

    def gradients(features: Tensor) -> list[Tensor]:
        model.zero_grad()
        features.square().sum().backward()
        return [x.grad for x in model.parameters() if x.grad is not None]

    with kernels():
        plain = gradients(model(source, tokens).features)
        again = gradients(checkpoint(lambda: model(source, tokens).features, use_reentrant=False))
    torch.testing.assert_close(again, plain)


@interpreted
def test_padding_changes_nothing() -> None:
    model, padded = build(), sentences(6, 6)
    trimmed = Sentences(padded.source[:, :6], padded.source_lengths)
    with kernels():
        wide, narrow = run(model, padded), run(model, trimmed)
    assert not wide["weights"][..., 6:].any()
    compare({**wide, "weights": wide["weights"][..., :6]}, narrow, 2e-5)


class Plain:
    """A function and its gradient as Replay takes them, which count their calls."""

    def __init__(self) -> None:
        self.calls = [0, 0]

    def forward(self, x: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        self.calls[0] += 1
        return (x * x,), (x,)

    def backward(self, outside: Any, given: Any, kept: Any) -> tuple[Tensor, ...]:
        self.calls[1] += 1
        return (2 * kept[0] * outside[0],)


def test_on_the_cpu_nothing_is_captured() -> None:
    plain = Plain()
    replay = Replay(plain.forward, plain.backward)
    for _ in range(3):
        _, kept, ticket = replay.forward(torch.ones(2))
        assert torch.equal(replay.backward(ticket, [torch.ones(2)], [torch.ones(2)], kept)[0], 2 * torch.ones(2))
    assert plain.calls == [3, 3]
    assert ticket.shape is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_calls_of_one_shape_may_interleave() -> None:
    """Backward in the order of the calls, although each forward overwrote the saved tensors of the one before."""
    plain = Plain()
    replay = Replay(plain.forward, plain.backward)
    one = torch.ones(4, device="cuda")
    replay.forward(one)
    calls = [(one * number, *replay.forward(one * number)) for number in range(4)]
    for number, (x, results, kept, ticket) in enumerate(calls):
        assert torch.equal(results[0], x * x)
        assert torch.equal(replay.backward(ticket, [one], [x], kept)[0], 2 * x), number
    assert plain.calls == [2, 1]  # once plainly, once captured; the rest was replayed


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_results_are_copies() -> None:
    plain = Plain()
    replay = Replay(plain.forward, plain.backward)
    one = torch.ones(4, device="cuda")
    kept = [replay.forward(one * number)[0][0] for number in range(4)]
    assert [float(result[0]) for result in kept] == [0, 1, 4, 9]


class Looking(Plain):
    """Reads values on the host, which cannot be captured."""

    def forward(self, x: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        assert float(x.sum()) >= 0
        return super().forward(x)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_failed_capture_falls_back_and_does_not_break_others() -> None:
    looking, one = Looking(), torch.ones(4, device="cuda")
    replay = Replay(looking.forward, looking.backward)
    replay.forward(one)
    with pytest.warns(LaunchedWarning, match="could not be captured"):
        results, kept, ticket = replay.forward(2 * one)
    assert ticket.shape is None
    assert torch.equal(results[0], 4 * one)
    assert torch.equal(replay.backward(ticket, [one], [2 * one], kept)[0], 4 * one)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.empty_cache()
    large = torch.empty(1 << 26, device="cuda")
    held = torch.cuda.memory_reserved()
    del large
    torch.cuda.empty_cache()  # of which torch 2.11 is not capable any more by itself
    assert torch.cuda.memory_reserved() <= held - (1 << 28)
    test_calls_of_one_shape_may_interleave()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.skipif("2.13" <= torch.__version__ < "2.14", reason="torch 2.13 keeps it for ever")
def test_the_memory_of_a_failed_capture_is_freed() -> None:
    def forward(x: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        large = x.new_zeros(1 << 26)
        assert float(x.sum()) >= 0
        return (x + large[0],), ()

    replay, one = Replay(forward, Plain().backward), torch.ones(4, device="cuda")
    replay.forward(one)
    torch.cuda.empty_cache()
    held = torch.cuda.memory_reserved()
    with pytest.warns(LaunchedWarning, match="could not be captured .* not permitted"):
        assert torch.equal(replay.forward(one)[0][0], one)
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < held + (1 << 28)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_backward_that_syncs_is_launched_with_the_random_state_of_its_forward() -> None:
    def forward(x: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        factor = torch.rand_like(x)
        return (x * factor,), (factor,)

    def backward(outside: Any, given: Any, kept: Any) -> tuple[Tensor, ...]:
        assert float(kept[0].sum()) > 0
        return (kept[0] * outside[0],)

    replay, one = Replay(forward, backward, random=True, shared=True), torch.ones(4, device="cuda")
    replay.forward(one)
    results, kept, ticket = replay.forward(one)
    other = replay.forward(one)[0]
    with pytest.warns(LaunchedWarning, match="could not be captured"):
        gradients = replay.backward(ticket, [one], [one], kept)
    assert not torch.equal(other[0], results[0])
    assert torch.equal(gradients[0], results[0])
    results, kept, ticket = replay.forward(one)
    assert torch.equal(replay.backward(ticket, [one], [one], kept)[0], results[0])
    test_calls_of_one_shape_may_interleave()


class Capturer:
    """A fake capture; real ones need a GPU."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> _Shape:
        self.count += 1
        return _Shape((), (), (), None)


def test_a_shape_is_captured_at_its_second_call_and_kept() -> None:
    shelf, capture = GraphCache(), Capturer()
    assert shelf.find("a", capture) is None
    first = shelf.find("a", capture)
    assert first is not None
    assert shelf.find("a", capture) is first
    assert capture.count == 1


def test_the_least_recently_used_shape_is_dropped() -> None:
    shelf, capture = GraphCache(), Capturer()
    for number in range(MOST + 1):
        shelf.find(number, capture)
    assert len(shelf) == MOST
    assert 0 not in shelf
    assert MOST in shelf
    shelf.find(1, capture)
    shelf.find("new", capture)
    assert 1 in shelf
    assert 2 not in shelf


def test_a_graph_that_paid_off_does_not_count_as_wasted() -> None:
    shelf, capture = GraphCache(), Capturer()
    for number in range(2 * MOST):
        for _ in range(2):
            shape = shelf.find(number, capture)
        assert shape is not None
        shape.runs = PAID_OFF
    assert shelf.wasted == 0


def test_too_many_shapes_stop_further_captures() -> None:
    """Each is called twice in a row and dropped before its graph has paid off."""
    shelf, capture = GraphCache(), Capturer()
    for number in range(10 * MOST):
        shelf.find(number, capture)
        shelf.find(number, capture)
    assert capture.count <= MOST + MOST_WASTED


def test_out_of_memory_drops_all_graphs() -> None:
    replay = Replay(lambda *given: (given, ()), lambda outside, *_: tuple(outside))
    replay.shelf["a"] = None
    forget_graphs()
    assert not replay.shelf
