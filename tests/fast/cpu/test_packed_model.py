"""A model prepared for decoding with packed weights decodes the same words, and the original is not changed."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import regard.fast.cpu.packed_weight
from models.zoo import MECHANISMS, PRESETS, Config, build, sentences
from regard.fast.cpu.packed_model import PackedLinear
from regard.fast.cpu.packed_recurrence import PackedLayers
from regard.fast.cpu.packed_weight import pack, packable, product, rounded_up
from regard.models import Seq2Seq
from regard.models.rnn.decoder import RecurrentDecoder
from regard.registry import Precision, prepare_for_decoding
from regard.search import Hypothesis, Options, beam_search, greedy_search
from regard.torch_private import pack_weight, packed_linear

SOURCES = ([5, 6, 7, 8, 3], [9, 4, 3], [10, 8, 6, 3], [3], [7, 7, 7, 7, 7, 9], [4, 5, 3])
LIMITS = torch.tensor([8, 3, 9, 5, 0, 1])
Again = Callable[[Seq2Seq], Seq2Seq]

pytestmark = pytest.mark.skipif(not packable(torch.ones(512, 512)), reason="this torch packs no weights on this CPU")


@pytest.fixture(autouse=True)
def small_weights_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.fast.cpu.packed_weight, "SMALLEST", 1)


def single(config: Config) -> Seq2Seq:
    return build(config).float()


def alone(model: Seq2Seq, beam: int) -> list[list[Hypothesis]]:
    """Every sentence decoded alone: no padding, no batch."""
    return [
        beam_search(model, sentences(source), LIMITS[i : i + 1], beam=beam, nbest=beam)[0]
        for i, source in enumerate(SOURCES)
    ]


@pytest.mark.parametrize("config", MECHANISMS.values(), ids=MECHANISMS.keys())
def test_decodes_the_same_as_one_sentence_at_a_time_unpacked(config: Config) -> None:
    model = single(config)
    found = beam_search(prepare_for_decoding(model), sentences(*SOURCES), LIMITS, beam=3, nbest=3)
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
    ready = prepare_for_decoding(model)
    plain = greedy_search(model, sentences(*SOURCES), LIMITS, options=Options(weights=False))
    quick = greedy_search(ready, sentences(*SOURCES), LIMITS, options=Options(weights=False))
    assert [one.tokens for one in quick] == [one.tokens for one in plain]
    assert any(isinstance(module, PackedLinear) for module in ready.modules())


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
def test_the_original_model_is_not_changed(config: Config) -> None:
    model = single(config)
    names = [(name, type(module)) for name, module in model.named_modules()]
    ready = prepare_for_decoding(model)
    assert [(name, type(module)) for name, module in model.named_modules()] == names
    assert {id(one) for one in ready.parameters()} == {id(one) for one in model.parameters()}


def test_with_gradients_unpacked_weights_are_used() -> None:
    model = single(PRESETS["preset bahdanau"])
    ready = prepare_for_decoding(model)
    tokens = torch.tensor([2, 2])
    step = ready.step(tokens, ready.start(sentences([5, 3], [6, 3])))
    step.logits.sum().backward()
    assert all(parameter.grad is not None for parameter in model.decoder.recurrence.parameters())
    assert model.output.weight.grad is not None


def test_double_precision_is_not_packed() -> None:
    model = build(PRESETS["preset bahdanau"])
    assert prepare_for_decoding(model) is model


def test_small_weights_are_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.fast.cpu.packed_weight, "SMALLEST", 10**6)
    model = single(PRESETS["preset bahdanau"])
    assert prepare_for_decoding(model) is model


def test_products() -> None:
    torch.manual_seed(0)
    for rows, out, width in ((1, 7, 3), (5, 33, 18), (130, 20, 65)):
        x, weight, bias = (torch.randn(shape) for shape in ((rows, width), (out, width), (out,)))
        with torch.no_grad():
            torch.testing.assert_close(packed_linear(x, pack_weight(weight), bias), x @ weight.t() + bias)
            torch.testing.assert_close(packed_linear(x, pack_weight(weight), None), x @ weight.t())
    assert not packable(torch.ones(2, 2, dtype=torch.float64))
    assert not packable(torch.ones(2, 0))


def test_autocast_uses_unpacked_weights() -> None:
    layer = PackedLinear(nn.Linear(8, 4))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.ones(2, 8)).dtype == torch.bfloat16


def test_regard_plain_packs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_PLAIN", "1")
    model = single(PRESETS["preset bahdanau"])
    assert prepare_for_decoding(model) is model


COMPILED = """
import sys, torch
sys.path.insert(0, sys.argv[1])
import regard.fast.cpu.packed_weight
from fast.cpu.test_packed_model import PRESETS, prepare_for_decoding, sentences, single
regard.fast.cpu.packed_weight.SMALLEST = 1
model = single(PRESETS["preset bahdanau"])
ready, words = prepare_for_decoding(model), torch.tensor([2, 2])
assert ready is not model
with torch.no_grad():
    state = model.start(sentences([5, 3], [6, 3]))
    found = torch.compile(ready.decoder.step, backend="eager")(words, state).logits
    torch.testing.assert_close(found, model.step(words, state).logits)
"""


def test_torch_compile_uses_unpacked_weights() -> None:
    """In another process, without the shape checks of this one, which torch.compile cannot trace."""
    tests = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILED, str(tests)], check=True, timeout=300)


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
@pytest.mark.parametrize("again", [deepcopy, lambda ready: pickle.loads(pickle.dumps(ready)), prepare_for_decoding])
def test_a_packed_model_may_be_copied_pickled_and_packed_again(config: Config, again: Again) -> None:
    """The copy has weights of its own, packed; the original stays as it was."""
    ready = prepare_for_decoding(single(config))
    wanted = [one.tokens for one in greedy_search(ready, sentences(*SOURCES), LIMITS)]
    copy = again(ready)
    assert [type(module) for module in copy.modules()] == [type(module) for module in ready.modules()]
    assert copy.state_dict().keys() == ready.state_dict().keys()
    for model in (copy, ready):
        assert [one.tokens for one in greedy_search(model, sentences(*SOURCES), LIMITS)] == wanted
    if isinstance(ready.decoder, RecurrentDecoder) and isinstance(ready.decoder.recurrence, nn.RNNBase):
        one, other = copy.decoder.recurrence.packed_layers, ready.decoder.recurrence.packed_layers
        assert isinstance(one, PackedLayers)
        assert one.layers is not None
        assert one.layers is not other.layers


def test_a_decoder_that_was_not_prepared_has_no_packed_layers() -> None:
    assert not hasattr(deepcopy(build(PRESETS["preset bahdanau"])).decoder.recurrence, "packed_layers")


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
def test_a_packed_model_may_be_copied_where_nothing_can_be_packed(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another dtype, or unpickled where torch cannot pack: the copy uses unpacked weights."""
    ready = prepare_for_decoding(single(config))
    wanted = [one.tokens for one in greedy_search(ready, sentences(*SOURCES), LIMITS)]
    exact = deepcopy(deepcopy(ready).double())
    pickled = pickle.dumps(ready)
    monkeypatch.setattr(regard.fast.cpu.packed_weight, "_works", lambda: False)
    for again in (lambda: exact, exact.float, lambda: pickle.loads(pickled)):
        assert [one.tokens for one in greedy_search(again(), sentences(*SOURCES), LIMITS)] == wanted


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-4), ("int8", 0.3)])
def test_products_of_any_number_of_rows_use_few_shapes(
    precision: Precision, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """oneDNN and torch keep compiled code for every number of rows: a server would grow with each new one."""
    seen: set[int] = set()

    def counted(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        seen.add(len(x))
        return packed_linear(x, weight, bias)

    monkeypatch.setattr(regard.fast.cpu.packed_weight, "packed_linear", counted)
    torch.manual_seed(0)
    weight, bias = torch.randn(24, 16), torch.randn(24)
    packed = pack(weight, precision)
    with torch.inference_mode():
        for rows in (*range(131), 500):
            for x in (torch.randn(rows, 16), torch.randn(2, rows, 16)):
                found = product(x, packed, bias)
                torch.testing.assert_close(found, functional.linear(x, weight, bias), atol=tolerance, rtol=1e-4)
    assert len(seen) <= (70 if precision == "float32" else 0)


def test_rounding_adds_few_rows() -> None:
    assert [rounded_up(rows) for rows in range(18)] == [*range(17), 20]  # a single sentence is not slowed down
    assert all(rows <= rounded_up(rows) <= 17 / 16 * rows for rows in range(64, 5000))
    assert len({rounded_up(rows) for rows in range(4097)}) < 130
