"""Building mechanisms by name: every valid combination, and a message for every invalid one."""

import sys
import types

import pytest
import torch

from regard import attention
from regard.attention import SCORES, WINDOWS, Attention, BahdanauAttention, build_attention

SIZES = {"query_width": 8, "state_width": 8, "width": 6}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("score", SCORES)
def test_every_score_works_with_every_window(score: str, window: str) -> None:
    if score == "none" and window != "global":
        with pytest.raises(ValueError, match=f"window '{window}' needs attention"):
            build_attention(score, window, **SIZES)
        return
    module = build_attention(score, window, **SIZES)
    assert isinstance(module, Attention)
    assert module.query_width == module.value_width == 8
    seen = module(torch.ones(2, 3, 8), module.prepare(torch.ones(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)))
    assert seen.context.shape == (2, 3, 8)


def test_width_is_the_query_width_by_default_and_reach_is_luongs() -> None:
    module = build_attention("additive", "local-p", query_width=8, state_width=4)
    assert module.W_s.shape == (8, 8)
    assert module.window.W_p.shape == (8, 8)
    assert module.window.reach == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"score": "aditive"},
            r"no score 'aditive': did you mean 'additive'\?",
        ),
        ({"score": "scaled_dot"}, r"did you mean 'scaled-dot'\?"),
        (
            {"score": "zzz"},
            r"no score 'zzz': valid choices are additive, .* \(or your own as package.module:Class\)",
        ),
        (
            {"window": "locl-m"},
            r"unknown window \"locl-m\": did you mean 'local-m'\?",
        ),
        (
            {"score": "dot", "state_width": 16},
            r"is 8 wide and the encoder's states, both directions together, are 16: .* use 'general'",
        ),
        (
            {"score": "scaled-dot", "state_width": 16},
            r"is 8 wide and the encoder's states, both directions together, are 16: .* use 'multi-head'",
        ),
        (
            {"score": "multi-head", "heads": 4},
            "4 heads do not divide the attention's width 6: make attention_width a multiple",
        ),
        (
            {"score": "additive", "heads": 2},
            "heads = 2 needs score 'multi-head'; 'additive' has one head",
        ),
        ({"width": 0}, "width is 0, but it must be at least 1"),
        ({"window": "local-m", "reach": 0}, "reach is 0, but it must be at least 1"),
        (
            {"score": "no_such_package:Thing"},
            'module "no_such_package", which cannot be imported .* PYTHONPATH, not in the current folder',
        ),
        ({"score": ":Thing"}, "expected package.module:Class"),
        ({"score": "torch.nn:Liner"}, r"module \"torch.nn\" has no class \"Liner\": did you mean 'Linear'\?"),
        ({"score": "torch.nn:Linear"}, r'"torch.nn:Linear" could not be built .*in_features.*may take query_width'),
        (
            {"score": "torch.nn:Identity"},
            r"does not satisfy regard.attention.Attention: it has no query_width, .*prepare",
        ),
        ({"score": "collections:OrderedDict"}, "is not a class of attention modules"),
        ({"score": "math:pi"}, "is not a class of attention modules"),
        ({"score": "own:Own", "window": "local-m"}, '"own:Own" takes no argument "window", so window "local-m"'),
        ({"score": "own:Own", "heads": 2}, '"own:Own" takes no argument "heads", so heads=2'),
    ],
)
def test_invalid_combinations_raise_with_the_reason(
    options: dict[str, object], message: str, own_module: types.ModuleType
) -> None:
    with pytest.raises(ValueError, match=message):
        build_attention(**{**SIZES, "trust": [options.get("score", "")], **options})


@pytest.fixture
def own_module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A user's module `own` with a mechanism that takes widths only, and one that takes everything."""

    class Own(torch.nn.Module):
        def __init__(self, query_width: int, state_width: int) -> None:
            super().__init__()
            self.inner = BahdanauAttention(query_width, state_width, 3)
            self.query_width, self.value_width = query_width, state_width
            self.prepare = self.inner.prepare

        def forward(self, *given: object, **named: object) -> object:
            return self.inner(*given, **named)

    class Open(Own):
        def __init__(self, **given: object) -> None:
            super().__init__(given["query_width"], given["state_width"])
            self.given = given

    module = types.ModuleType("own")
    module.Own, module.Open = Own, Open
    monkeypatch.setitem(sys.modules, "own", module)
    return module


def test_a_custom_mechanism_is_built(own_module: types.ModuleType) -> None:
    module = build_attention("own:Own", **SIZES, trust=["own:Own"])
    assert isinstance(module, own_module.Own)
    seen = module(torch.ones(2, 3, 8), module.prepare(torch.ones(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)))
    assert seen.context.shape == (2, 3, 8)
    everything = build_attention("own:Open", "local-m", **SIZES, heads=2, trust=["own:Open"]).given
    assert set(everything) == {"query_width", "state_width", "width", "heads", "window"}


def test_every_public_name_loads_and_no_other_does() -> None:
    for name in attention.__all__:
        assert getattr(attention, name) is not None
    assert set(dir(attention)) == set(attention.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        _ = attention.Nonsense
