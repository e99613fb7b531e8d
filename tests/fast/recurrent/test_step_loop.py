"""The accelerated step loop beside the law: threads, users' mechanisms, swapped parameters, guards, torch.compile."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor

from models.zoo import RECURRENT, SOURCE, TOKENS, build, recurrent, sentences
from regard.attention import Attended, LuongGeneral
from regard.fast.recurrent import weight_swap
from regard.models import RecurrentConfig, Seq2Seq
from regard.registry import recorded, without

FED = recurrent(score="general", placement="output", input_feeding=True, readout="attentional", cell="lstm")
Results = dict[str, Tensor]


@pytest.fixture(autouse=True)
def gradients_of_small_weights_are_deferred_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_swap, "DEFERRED", 0)


def results(model: Seq2Seq, entry: str | None = "decode_deferred") -> Results:
    """Features, weights and all gradients."""
    with recorded() as chosen:
        decoded = model(sentences(*SOURCE, []), torch.cat([TOKENS, TOKENS[:1]]), want_weights=True)
    assert [name for name in chosen if name.startswith("decode")] == ([] if entry is None else [entry])
    seen = {"features": decoded.features, **({} if decoded.weights is None else {"weights": decoded.weights})}
    total = torch.stack([(x.square() * (1 + x)).sum() for x in seen.values()]).sum()
    learned = {name: x for name, x in model.named_parameters() if not name.startswith("decoder.readout.output")}
    gradients = torch.autograd.grad(total, list(learned.values()), allow_unused=True)
    found = {name: x for name, x in zip(learned, gradients, strict=True) if x is not None}
    return {**{name: x.detach() for name, x in seen.items()}, **found}


def agree(found: Results, wanted: Results) -> None:
    assert found.keys() == wanted.keys()
    for name, right in wanted.items():
        torch.testing.assert_close(found[name], right, atol=1e-10, rtol=1e-9, msg=name)


LOOPS = {
    name: config
    for name, config in RECURRENT.items()
    if config.input_feeding or (config.placement == "input" and config.score != "none")
}


@pytest.mark.parametrize("config", LOOPS.values(), ids=LOOPS.keys())
def test_the_loop_agrees_with_the_plain_one(config: RecurrentConfig) -> None:
    """For every combination; the law has some of them in other precisions."""
    model = build(config).train()
    with without("decode_one_operation"):
        deferred = results(model)
        with without("decode_deferred"):
            agree(results(model, None), deferred)


def test_training_follows_the_plain_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    curves = []
    for plain in ("0", "1"):
        monkeypatch.setenv("REGARD_PLAIN", plain)
        model, curve = build(recurrent(score="general", decoder_layers=3, dropout=0.5, initial="zero")).train(), []
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        torch.manual_seed(0)
        for _ in range(10):
            optimizer.zero_grad()
            total = model.logits(model(sentences(*SOURCE), TOKENS).features).square().sum()
            total.backward()
            optimizer.step()
            curve.append(total.detach())
        curves.append(torch.stack(curve))
    torch.testing.assert_close(*curves, atol=1e-9, rtol=1e-9)
    assert curves[0][-1] < curves[0][0]


def test_a_weight_changed_before_backward_raises() -> None:
    model = build(FED)
    total = model(sentences(*SOURCE), TOKENS).features.sum()
    with torch.no_grad():
        model.decoder.recurrence.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_functional_call_replaces_the_parameters() -> None:
    model = build(FED)
    others = {name: parameter.detach().clone().requires_grad_() for name, parameter in model.named_parameters()}
    ways = (
        (model(sentences(*SOURCE), TOKENS), dict(model.named_parameters())),
        (torch.func.functional_call(model, others, (sentences(*SOURCE), TOKENS)), others),
    )
    found = [
        torch.autograd.grad(decoded.features.pow(3).sum(), list(leaves.values()), allow_unused=True)
        for decoded, leaves in ways
    ]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def observing(monkeypatch: pytest.MonkeyPatch, observe: Callable[[LuongGeneral, Attended], object]) -> None:
    """Calls `observe` at every step of a general attention, from now on."""
    forward = LuongGeneral.forward

    def more(self: LuongGeneral, *given: Any, **options: Any) -> Attended:
        seen = forward(self, *given, **options)
        observe(self, seen)
        return seen

    monkeypatch.setattr(LuongGeneral, "forward", more)


def test_threads_do_not_share_swapped_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread is inside the loop, another uses the same model."""
    model, seen = build(FED), list[Results]()
    wanted = results(model)

    def other_thread(*_: object) -> None:
        if not seen:
            seen.append({})
            thread = Thread(target=lambda: seen[0].update(results(model)))
            thread.start()
            thread.join()

    observing(monkeypatch, other_thread)
    with recorded():
        found = model(sentences(*SOURCE, []), torch.cat([TOKENS, TOKENS[:1]])).features
    agree(seen[0], wanted)
    torch.testing.assert_close(found, wanted["features"])


def test_a_mechanism_may_set_attributes_on_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    observing(monkeypatch, lambda mechanism, seen: setattr(mechanism, "last", seen.weights))
    model = build(FED)
    results(model)
    assert isinstance(model.decoder.attention.last, Tensor)
    assert all(type(parameter) is torch.nn.Parameter for parameter in model.parameters())


def test_gradients_of_gradients_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(FED)
    with pytest.raises(RuntimeError, match="REGARD_PLAIN=1"):
        torch.autograd.grad(
            model(sentences(*SOURCE), TOKENS).features.sum(), [model.decoder.attention.W_a], create_graph=True
        )
    monkeypatch.setenv("REGARD_PLAIN", "1")
    total = model(sentences(*SOURCE), TOKENS).features.sum()
    (gradient,) = torch.autograd.grad(total, [model.decoder.attention.W_a], create_graph=True)
    assert gradient.requires_grad


COMPILED = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from fast.recurrent.test_step_loop import FED, SOURCE, TOKENS, build, recurrent, sentences

def results(model, call):
    parameters = [one for name, one in model.named_parameters() if "readout.output" not in name]
    features = call(sentences(*SOURCE), TOKENS).features
    return [features, *torch.autograd.grad(features.square().sum(), parameters)]

for config in (FED, recurrent(cell="lstm"), recurrent(cell="gru")):
    model = build(config)
    torch.testing.assert_close(results(model, torch.compile(model, backend="aot_eager")), results(model, model))
"""


@pytest.mark.long
def test_torch_compile_runs_the_plain_loop() -> None:
    """In another process, without the shape checks of this one, which torch.compile cannot trace."""
    tests = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILED, str(tests)], check=True, timeout=300)
