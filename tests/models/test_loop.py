"""The fast step loop, on the CPU and replayed from CUDA graphs: results and gradients of a loop of plain operations."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Attended, LuongGeneral
from regard.models import RecurrentConfig, Seq2Seq
from regard.models.rnn import walk as walking
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.rnn.fused.loop import _Loop

from .zoo import MECHANISMS, RECURRENT, SOURCE, TOKENS, Sentences, build, recurrent, sentences

LOOPS = {
    **{
        name: config
        for name, config in MECHANISMS.items()
        if isinstance(config, RecurrentConfig) and config.score != "none" and ":" not in config.score
    },
    "lstm, fed": recurrent(score="general", placement="output", input_feeding=True, readout="attentional", cell="lstm"),
    "dropped": recurrent(score="general", decoder_layers=3, encoder_layers=3, dropout=0.5, cell="lstm"),
}
every = pytest.mark.parametrize("config", LOOPS.values(), ids=LOOPS.keys())
LONGER = torch.cat([TOKENS, TOKENS[:, 1:]], dim=1)
Results = dict[str, Tensor]
Switch = Callable[[bool], None]


@pytest.fixture(autouse=True)
def all_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecurrentDecoder, "_fits_one_operation", lambda *_: False)


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Switch:
    """Whether loops are replayed from now on."""
    return lambda wanted: monkeypatch.setattr(RecurrentDecoder, "_may_be_replayed", lambda *_: wanted)


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch, replay: Switch) -> Switch:
    """Whether the loop runs with what makes it fast, or as plain operations with a weight's gradient at each step."""

    def switch(wanted: bool) -> None:
        replay(False)
        monkeypatch.setattr(walking, "WORTH", 0)
        monkeypatch.setenv("REGARD_PLAIN", "0" if wanted else "1")

    return switch


def objective(model: Seq2Seq, source: Sentences, tokens: Tensor) -> tuple[Results, Tensor]:
    torch.manual_seed(1)  # dropout, where there is any
    decoded = model(source, tokens, want_weights=True)
    wide = torch.promote_types(decoded.features.dtype, torch.float32)
    seen = {"features": decoded.features, **({} if decoded.weights is None else {"weights": decoded.weights})}
    total = sum((x.to(wide).square() * (1 + x.to(wide))).sum() for x in seen.values())
    assert isinstance(total, Tensor)
    return {name: x.detach() for name, x in seen.items()}, total


def gradients(model: Seq2Seq) -> Results:
    found = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    model.zero_grad(set_to_none=True)
    return found


def results(model: Seq2Seq, source: Sentences, tokens: Tensor) -> Results:
    seen, total = objective(model, source, tokens)
    total.backward()
    return {**seen, **gradients(model)}


def agree(found: Results, wanted: Results, tolerance: float) -> None:
    assert found.keys() == wanted.keys()
    for name, right in wanted.items():
        scale = right.float().abs().max().item()
        torch.testing.assert_close(found[name], right, atol=tolerance * (scale + 0.01), rtol=tolerance, msg=name)


@pytest.mark.parametrize("config", [*RECURRENT.values(), LOOPS["dropped"]], ids=[*RECURRENT, "dropped"])
def test_the_fast_loop_is_the_plain_loop(config: RecurrentConfig, fast: Switch) -> None:
    model, source = build(config).train(), sentences(*SOURCE, [])
    tokens = torch.cat([TOKENS, TOKENS[:1]])
    fast(False)
    wanted = results(model, source, tokens)
    fast(True)
    agree(results(model, source, tokens), wanted, 1e-10)


@pytest.mark.parametrize("name", ["preset bahdanau", "lstm, fed", "dropped"])
def test_half_precision_is_close(name: str, fast: Switch) -> None:
    model, source = build(LOOPS[name]).float().train(), sentences(*SOURCE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        fast(False)
        wanted = results(model, source, TOKENS)
        fast(True)
        found = results(model, source, TOKENS)
    assert all(gradient.dtype == torch.float32 for key, gradient in found.items() if key not in ("features", "weights"))
    agree(found, wanted, 6e-2)


@every
def test_the_loop_as_a_function_is_the_loop(config: RecurrentConfig, fast: Switch, replay: Switch) -> None:
    model, source = build(config).train(), sentences(*SOURCE)
    fast(True)
    wanted = results(model, source, TOKENS)
    replay(True)
    agree(results(model, source, TOKENS), wanted, 1e-7)


def test_places_may_be_filled_again_between_the_passes(fast: Switch) -> None:
    """As a replay does before backward is captured; autograd must not mind, and may be asked twice."""
    fast(True)
    model = build(LOOPS["lstm, fed"])
    state, weights = model.start(sentences(*SOURCE)), model.decoder._inside()
    gates = model.decoder._gates(model.decoder._embed(TOKENS.T), model.decoder._layers())
    cell, memory = torch.stack(state.cell), state.memory
    given = [gates, torch.stack(state.hidden), cell, state.feed, memory.keys, memory.values, memory.real, None]
    places = [None if x is None else x.detach().clone() for x in (*given, *weights.values())]
    loop = _Loop(model.decoder, tuple(weights), len(given), None)
    outputs, kept = loop.forward(*places)
    outside = [torch.ones_like(output) for output in outputs]
    wanted = loop.backward(outside, places, kept)
    for place in places:
        if place is not None:
            place.copy_(place.clone())
    for one, other in zip(loop.backward(outside, places, kept), wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["preset luong", "lstm, fed", "dropped"])
def test_both_learn_along_the_same_curve(name: str, fast: Switch) -> None:
    curves = []
    for wanted in (False, True):
        fast(wanted)
        model, curve = build(LOOPS[name]).train(), []
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(10):
            optimizer.zero_grad()
            _, total = objective(model, sentences(*SOURCE), TOKENS)
            total.backward()
            optimizer.step()
            curve.append(total.detach())
        curves.append(torch.stack(curve))
    torch.testing.assert_close(*curves, atol=1e-9, rtol=1e-9)
    assert curves[0][-1] < curves[0][0]


def test_a_weight_changed_before_backward_is_noticed(fast: Switch) -> None:
    fast(True)
    model = build(LOOPS["lstm, fed"])
    _, total = objective(model, sentences(*SOURCE), TOKENS)
    with torch.no_grad():
        model.decoder.recurrence.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_other_tensors_may_stand_for_the_parameters(fast: Switch) -> None:
    """As `torch.func.functional_call` puts them in: fast weights, ensembles, averages."""
    fast(True)
    model = build(LOOPS["lstm, fed"])
    wanted = results(model, sentences(*SOURCE), TOKENS)
    others = {name: parameter.detach().clone().requires_grad_() for name, parameter in model.named_parameters()}
    given = (sentences(*SOURCE), TOKENS)
    decoded = torch.func.functional_call(model, others, given, {"want_weights": True})
    sum((x.square() * (1 + x)).sum() for x in (decoded.features, decoded.weights)).backward()
    found = {name: x.grad for name, x in others.items() if x.grad is not None}
    agree(found, {name: x for name, x in wanted.items() if name in others}, 1e-10)


def test_threads_do_not_see_each_other_s_weights(fast: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread is inside the loop, another uses the same model."""
    fast(True)
    model, seen = build(LOOPS["lstm, fed"]), []
    wanted = results(model, sentences(*SOURCE), TOKENS)

    def look(*_: object) -> None:
        if not seen:
            seen.append({})
            thread = Thread(target=lambda: seen[0].update(results(model, sentences(*SOURCE), TOKENS)))
            thread.start()
            thread.join()

    noticing(monkeypatch, look)
    found = results(model, sentences(*SOURCE), TOKENS)
    agree(seen[0], wanted, 1e-10)
    agree(found, wanted, 1e-10)


def noticing(monkeypatch: pytest.MonkeyPatch, notice: Callable[[LuongGeneral, Attended], object]) -> None:
    """Another mechanism from now on, which does something more at every step."""
    forward = LuongGeneral.forward

    def more(self: LuongGeneral, *given: Any, **options: Any) -> Attended:
        seen = forward(self, *given, **options)
        notice(self, seen)
        return seen

    monkeypatch.setattr(LuongGeneral, "forward", more)


def test_a_mechanism_may_note_something_on_itself(fast: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    fast(True)
    noticing(monkeypatch, lambda mechanism, seen: setattr(mechanism, "last", seen.weights))
    model = build(LOOPS["lstm, fed"])
    objective(model, sentences(*SOURCE), TOKENS)
    assert isinstance(model.decoder.attention.last, Tensor)
    assert all(type(parameter) is torch.nn.Parameter for parameter in model.parameters())


def test_gradients_of_gradients_are_refused(fast: Switch) -> None:
    fast(True)
    model = build(LOOPS["lstm, fed"])
    decoded = model(sentences(*SOURCE), TOKENS)
    with pytest.raises(RuntimeError, match="REGARD_PLAIN=1"):
        torch.autograd.grad(decoded.features.sum(), list(model.parameters()), create_graph=True)
    fast(False)
    decoded = model(sentences(*SOURCE), TOKENS)
    (gradient,) = torch.autograd.grad(decoded.features.sum(), [model.decoder.attention.W_a], create_graph=True)
    assert gradient.requires_grad


COMPILED = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from models.test_loop import LOOPS, SOURCE, TOKENS, build, recurrent, sentences
from regard.models.rnn import walk
walk.WORTH = 0

def results(model, call):
    parameters = [one for name, one in model.named_parameters() if "readout.output" not in name]
    features = call(sentences(*SOURCE), TOKENS).features
    return [features, *torch.autograd.grad(features.square().sum(), parameters)]

for config in (LOOPS["lstm, fed"], recurrent(cell="lstm"), recurrent(cell="gru")):
    model = build(config)
    torch.testing.assert_close(results(model, torch.compile(model, backend="aot_eager")), results(model, model))
"""


def test_torch_compile_gets_the_plain_loop() -> None:
    """In a process of its own: the type checks of this one are not for it."""
    tests = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILED, str(tests)], check=True, timeout=300)


def test_a_model_is_let_go_with_what_was_kept_for_it(replay: Switch) -> None:
    replay(True)
    model = build(next(iter(LOOPS.values())))
    results(model, sentences(*SOURCE), TOKENS)
    alive = weakref.ref(model.decoder)
    del model
    gc.collect()
    assert alive() is None


def there(*rows: Sequence[int]) -> Sentences:
    source = sentences(*rows)
    return Sentences(source.source.cuda(), source.source_lengths.cuda())


@pytest.fixture
def gpu() -> Iterator[None]:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    yield
    gc.collect()
    torch.cuda.empty_cache()


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("half", [False, True], ids=["float32", "bf16"])
@every
def test_replayed_is_plain(config: RecurrentConfig, half: bool, replay: Switch) -> None:
    """A shape's first, second and third time, then with other weights; two shapes in between each other."""
    model, tolerance = build(config).float().cuda().train(), 6e-2 if half else 1e-4
    shapes = [(there(*SOURCE, []), torch.cat([TOKENS, TOKENS[:1]]).cuda()), (there(*SOURCE), LONGER.cuda())]
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=half):
        for times in (3, 2):
            replay(False)
            wanted = [results(model, *shape) for shape in shapes]
            replay(True)
            for _ in range(times):
                for shape, right in zip(shapes, wanted, strict=True):
                    agree(results(model, *shape), right, tolerance)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(0.8)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@every
def test_replayed_calls_may_interleave(config: RecurrentConfig, replay: Switch) -> None:
    """Two forward passes of one shape before their backward passes, the later one first."""
    model = build(config).float().cuda().train()
    pair = [(there(*SOURCE), TOKENS.cuda()), (there(*SOURCE[::-1]), TOKENS.flip(0).cuda())]
    replay(False)
    wanted = [results(model, *one) for one in pair]
    replay(True)
    for _ in range(2):
        results(model, *pair[0])
    seen = [objective(model, *one) for one in pair]
    found: list[Results] = []
    for first, total in seen[::-1]:
        total.backward()
        found.append({**first, **gradients(model)})
    for one, right in zip(found[::-1], wanted, strict=True):
        agree(one, right, 1e-4)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_graphs_leave_with_their_model(replay: Switch) -> None:
    """The second model's: the first leaves the libraries' work space behind, once for all."""
    replay(True)
    held = []
    for _ in range(2):
        model = build(LOOPS["lstm, fed"]).cuda().train()
        for _ in range(3):
            results(model, there(*SOURCE), TOKENS.cuda())
        del model
        gc.collect()
        held.append(torch.cuda.memory_allocated())
    assert held[1] <= held[0]
