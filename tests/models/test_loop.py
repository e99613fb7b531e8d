"""The fast step loop: results and gradients of a loop of plain operations."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from regard.models import RecurrentConfig, Seq2Seq
from regard.models.rnn import walk as walking
from regard.models.rnn.decoder import RecurrentDecoder

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
def fast(monkeypatch: pytest.MonkeyPatch) -> Switch:
    """Whether the loop runs with what makes it fast, or as plain operations with a weight's gradient at each step."""

    def switch(wanted: bool) -> None:
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
