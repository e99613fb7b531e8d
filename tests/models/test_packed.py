"""A packed model says word for word what the model says, and leaves it alone."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import nn

import regard.models.product
from regard.models import Seq2Seq
from regard.models.packed import PackedLinear, packed
from regard.models.product import add_product, pack, packable, product
from regard.models.rnn.decoder import RecurrentDecoder
from regard.search import Hypothesis, Options, beam_search, greedy_search

from .zoo import EVERY, PRESETS, Config, build, sentences

SOURCES = ([5, 6, 7, 8, 3], [9, 4, 3], [10, 8, 6, 3], [3], [7, 7, 7, 7, 7, 9], [4, 5, 3])
LIMITS = torch.tensor([8, 3, 9, 5, 0, 1])
Again = Callable[[Seq2Seq], Seq2Seq]

pytestmark = pytest.mark.skipif(not packable(torch.ones(512, 512)), reason="this torch packs no weights on this CPU")


@pytest.fixture(autouse=True)
def small_weights_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.models.product, "SMALLEST", 1)


def single(config: Config) -> Seq2Seq:
    return build(config).float()


def alone(model: Seq2Seq, beam: int) -> list[list[Hypothesis]]:
    """Every sentence decoded for itself: no padding, no neighbour, no batch."""
    return [
        beam_search(model, sentences(source), LIMITS[i : i + 1], beam=beam, nbest=beam)[0]
        for i, source in enumerate(SOURCES)
    ]


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_the_same_words_as_one_sentence_at_a_time_unpacked(config: Config) -> None:
    model = single(config)
    found = beam_search(packed(model), sentences(*SOURCES), LIMITS, beam=3, nbest=3)
    for group, plain in zip(found, alone(model, 3), strict=True):
        assert [one.tokens for one in group] == [one.tokens for one in plain]
        assert [one.score for one in group] == pytest.approx([one.score for one in plain], abs=1e-4)
        for one, other in zip(group, plain, strict=True):
            if one.weights is not None and other.weights is not None:
                torch.testing.assert_close(
                    one.weights[..., : other.weights.shape[-1]], other.weights, atol=1e-4, rtol=1e-3
                )


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
def test_greedy(config: Config) -> None:
    model = single(config)
    ready = packed(model)
    plain = greedy_search(model, sentences(*SOURCES), LIMITS, options=Options(weights=False))
    quick = greedy_search(ready, sentences(*SOURCES), LIMITS, options=Options(weights=False))
    assert [one.tokens for one in quick] == [one.tokens for one in plain]
    assert any(isinstance(module, PackedLinear) for module in ready.modules())


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
def test_the_model_itself_is_untouched(config: Config) -> None:
    model = single(config)
    names = [(name, type(module)) for name, module in model.named_modules()]
    ready = packed(model)
    assert [(name, type(module)) for name, module in model.named_modules()] == names
    assert {id(one) for one in ready.parameters()} == {id(one) for one in model.parameters()}


def test_with_gradients_the_weights_themselves_are_used() -> None:
    model = single(PRESETS["preset bahdanau"])
    ready = packed(model)
    tokens = torch.tensor([2, 2])
    step = ready.step(tokens, ready.start(sentences([5, 3], [6, 3])))
    step.logits.sum().backward()
    assert all(parameter.grad is not None for parameter in model.decoder.recurrence.parameters())
    assert model.output.weight.grad is not None


def test_double_precision_is_left_as_it_is() -> None:
    model = build(PRESETS["preset bahdanau"])
    assert packed(model) is model


def test_small_weights_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.models.product, "SMALLEST", 10**6)
    model = single(PRESETS["preset bahdanau"])
    assert packed(model) is model


def test_products() -> None:
    torch.manual_seed(0)
    for rows, out, width in ((1, 7, 3), (5, 33, 18), (130, 20, 65)):
        x, weight, bias, given = (torch.randn(shape) for shape in ((rows, width), (out, width), (out,), (rows, out)))
        with torch.no_grad():
            torch.testing.assert_close(product(x, pack(weight), bias), x @ weight.t() + bias)
            torch.testing.assert_close(add_product(given, x, pack(weight)), given + x @ weight.t())
    assert not packable(torch.ones(2, 2, dtype=torch.float64))
    assert not packable(torch.ones(2, 0))


def test_autocast_goes_its_own_way() -> None:
    layer = PackedLinear(nn.Linear(8, 4))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.ones(2, 8)).dtype == torch.bfloat16


def test_where_all_is_to_be_plain_nothing_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_PLAIN", "1")
    model = single(PRESETS["preset bahdanau"])
    assert packed(model) is model


COMPILED = """
import sys, torch
sys.path.insert(0, sys.argv[1])
import regard.models.product
from models.test_packed import PRESETS, packed, sentences, single
regard.models.product.SMALLEST = 1
model = single(PRESETS["preset bahdanau"])
ready, words = packed(model), torch.tensor([2, 2])
assert ready is not model
with torch.no_grad():
    state = model.start(sentences([5, 3], [6, 3]))
    found = torch.compile(ready.decoder.step, backend="eager")(words, state).logits
    torch.testing.assert_close(found, model.step(words, state).logits)
"""


def test_torch_compile_gets_the_weights_themselves() -> None:
    """In a process of its own: the type checks of this one are not for it."""
    tests = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILED, str(tests)], check=True, timeout=300)


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
@pytest.mark.parametrize("again", [deepcopy, lambda ready: pickle.loads(pickle.dumps(ready)), packed])
def test_a_packed_model_may_be_copied_pickled_and_packed_again(config: Config, again: Again) -> None:
    """The copy has weights of its own, packed; the original stays as it was."""
    ready = packed(single(config))
    wanted = [one.tokens for one in greedy_search(ready, sentences(*SOURCES), LIMITS)]
    copy = again(ready)
    assert [type(module) for module in copy.modules()] == [type(module) for module in ready.modules()]
    assert copy.state_dict().keys() == ready.state_dict().keys()
    for model in (copy, ready):
        assert [one.tokens for one in greedy_search(model, sentences(*SOURCES), LIMITS)] == wanted
    if isinstance(ready.decoder, RecurrentDecoder):
        assert copy.decoder._packed is not None
        assert copy.decoder._packed is not ready.decoder._packed


def test_an_unpacked_decoder_is_copied_unpacked() -> None:
    assert deepcopy(build(PRESETS["preset bahdanau"])).decoder._packed is None


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
def test_a_packed_model_may_be_copied_where_nothing_can_be_packed(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another precision, or read on a machine whose torch cannot: the copy uses the weights themselves."""
    ready = packed(single(config))
    wanted = [one.tokens for one in greedy_search(ready, sentences(*SOURCES), LIMITS)]
    exact = deepcopy(deepcopy(ready).double())
    pickled = pickle.dumps(ready)
    monkeypatch.setattr(regard.models.product, "_works", lambda: False)
    for again in (lambda: exact, exact.float, lambda: pickle.loads(pickled)):
        assert [one.tokens for one in greedy_search(again(), sentences(*SOURCES), LIMITS)] == wanted
