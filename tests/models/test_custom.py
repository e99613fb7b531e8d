"""Hooks and patched forwards on modules that accelerated code bypasses, and users' windows: every call is made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from regard.attention import GlobalWindow, LocalM, LuongGeneral, NoAttention
from regard.fast.conditions import is_known
from regard.fast.recurrent import weight_swap
from regard.fast.search.step_identity import step_key
from regard.models import Seq2Seq

from .zoo import SOURCE, TOKENS, build, recurrent, sentences

MODELS = {
    "one operation": recurrent(),
    "step loop": recurrent(score="general", placement="output", input_feeding=True, readout="attentional", cell="lstm"),
}
every = pytest.mark.parametrize("name", MODELS)
Watch = Callable[[nn.Module, list[nn.Module]], Any]


@contextmanager
def hooked(module: nn.Module, seen: list[nn.Module]) -> Iterator[None]:
    handle = module.register_forward_hook(lambda one, *_: seen.append(one))
    yield
    handle.remove()


@contextmanager
def hooked_for_all(module: nn.Module, seen: list[nn.Module]) -> Iterator[None]:
    handle = register_module_forward_hook(lambda one, *_: seen.append(one) if type(one) is type(module) else None)
    yield
    handle.remove()


@contextmanager
def put_on(module: nn.Module, seen: list[nn.Module]) -> Iterator[None]:
    forward = module.forward
    module.forward = lambda *given, **options: (seen.append(module), forward(*given, **options))[1]
    yield
    del module.forward


def calls(model: Seq2Seq, module: nn.Module, watch: Watch) -> int:
    seen: list[nn.Module] = []
    with watch(module, seen):
        model(sentences(*SOURCE), TOKENS)
    assert all(one is module for one in seen)
    return len(seen)


@pytest.fixture(autouse=True)
def deferred_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_swap, "DEFERRED", 0)


@pytest.mark.parametrize("watch", [hooked, hooked_for_all, put_on])
@pytest.mark.parametrize("learning", [True, False])
@every
def test_attention_is_called_at_every_step(name: str, learning: bool, watch: Watch) -> None:
    model = build(MODELS[name]).train()
    with torch.set_grad_enabled(learning):
        assert calls(model, model.decoder.attention, watch) == TOKENS.size(1)


@pytest.mark.parametrize("watch", [hooked, put_on])
def test_the_layer_that_feeds_is_called_at_every_step(watch: Watch) -> None:
    model = build(MODELS["step loop"]).train()
    assert calls(model, model.decoder.readout.combine, watch) == TOKENS.size(1)


@pytest.mark.parametrize("watch", [hooked, hooked_for_all, put_on])
@every
def test_the_encoders_recurrence_is_called(name: str, watch: Watch) -> None:
    model = build(MODELS[name]).train()
    assert calls(model, model.encoder.recurrence, watch) == 1


def test_hooks_do_not_change_gradients() -> None:
    for config in MODELS.values():
        model, found = build(config).train(), []
        inside = [*model.decoder.recurrence.parameters(), *model.decoder.attention.parameters()]
        for hook in (False, True):
            if hook:
                model.decoder.attention.register_forward_hook(lambda *_: None)
            features = model(sentences(*SOURCE), TOKENS).features
            found.append([features, *torch.autograd.grad(features.pow(3).sum(), inside)])
        torch.testing.assert_close(*found)


class Mine(GlobalWindow):
    """A user's window, which may do other work at each step."""


def test_a_users_window_is_never_replayed() -> None:
    assert is_known(LuongGeneral(4, 4))
    assert is_known(LuongGeneral(4, 4, window=LocalM(1)))
    assert is_known(NoAttention(4, 4))
    assert not is_known(LuongGeneral(4, 4, window=Mine()))
    assert not is_known(type("Changed", (LuongGeneral,), {})(4, 4)), "it may change its memory from step to step"
    model = build(recurrent()).eval()
    assert step_key(model) is not None
    model.decoder.attention.window = Mine()
    assert step_key(model) is None
