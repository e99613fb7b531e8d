"""Functions of modules captured in CUDA graphs: results and gradients of the plain loop; plain calls on the CPU."""

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.zoo import MECHANISMS, SOURCE, TOKENS, Sentences, build, recurrent, sentences
from regard.fast.graphs.captured_module import _Captured
from regard.fast.recurrent import weight_swap
from regard.fast.recurrent.decode_entries import _given, loop_weights
from regard.fast.recurrent.step_loop import run_steps
from regard.models import RecurrentConfig, Seq2Seq
from regard.models.rnn.decoder import RecurrentDecoder, decode
from regard.registry import operation_of

LOOPS = {
    **{
        name: config
        for name, config in MECHANISMS.items()
        if isinstance(config, RecurrentConfig)
        and config.score != "none"
        and ":" not in config.score
        and config.cell != "gru-2014"
    },
    "lstm, fed": recurrent(score="general", placement="output", input_feeding=True, readout="attentional", cell="lstm"),
    "dropped": recurrent(score="general", decoder_layers=3, encoder_layers=3, dropout=0.5, cell="lstm"),
}
every = pytest.mark.parametrize("config", LOOPS.values(), ids=LOOPS.keys())
LONGER = torch.cat([TOKENS, TOKENS[:, 1:]], dim=1)
Results = dict[str, Tensor]
Switch = Callable[[bool], None]


def always_captured(patch: pytest.MonkeyPatch) -> None:
    """`decode_captured` is the only entry of `decode` and applies on every device."""
    (entry,) = (entry for entry in operation_of(decode).entries if entry.name == "decode_captured")
    patch.setattr(operation_of(decode), "entries", (replace(entry, unless=lambda *_: None),))


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Switch:
    """Whether loops are captured from now on; if not, the same loop runs operation by operation."""
    build(LOOPS["dropped"])(sentences(*SOURCE), TOKENS)  # loads `regard.fast`
    everything = operation_of(decode).entries
    launched = tuple(entry for entry in everything if entry.name == "decode_deferred")
    monkeypatch.setattr(weight_swap, "DEFERRED", 0)

    def switch(wanted: bool) -> None:
        monkeypatch.setattr(operation_of(decode), "entries", everything if wanted else launched)
        if wanted:
            always_captured(monkeypatch)

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


@every
def test_the_loop_as_a_function_of_tensors_is_the_plain_loop(config: RecurrentConfig, replay: Switch) -> None:
    model, source = build(config).train(), sentences(*SOURCE)
    replay(False)
    wanted = results(model, source, TOKENS)
    replay(True)
    agree(results(model, source, TOKENS), wanted, 1e-7)


def test_buffers_may_be_overwritten_between_the_passes() -> None:
    """As a replay does before backward is captured; autograd must accept that, and run twice."""
    model = build(LOOPS["lstm, fed"])
    decoder, state = model.decoder, model.start(sentences(*SOURCE))
    assert isinstance(decoder, RecurrentDecoder)
    weights, given = loop_weights(decoder), _given(decoder, TOKENS, decoder.embed(TOKENS.T), state)
    buffers = [None if x is None else x.detach().clone() for x in (*given, *weights.values())]
    loop = _Captured(run_steps, decoder, tuple(weights), len(given), None)
    outputs, kept = loop.forward(*buffers)
    outside = [torch.ones_like(output) for output in outputs]
    wanted = loop.backward(outside, buffers, kept)
    for buffer in buffers:
        if buffer is not None:
            buffer.copy_(buffer.clone())
    for one, other in zip(loop.backward(outside, buffers, kept), wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_captured_functions_do_not_keep_their_model_alive(replay: Switch) -> None:
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
def test_replayed_equals_plain(config: RecurrentConfig, half: bool, replay: Switch) -> None:
    """The first, second and third call of a shape, then with other weights; calls of two shapes interleaved."""
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
def test_graphs_are_freed_with_their_model(replay: Switch) -> None:
    """Checked for the second model: the libraries' workspace of the first one stays allocated."""
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
