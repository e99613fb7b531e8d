"""A translator that is copied, pickled or used by several threads gives the same translations."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import pytest

import regard
import regard.fast.cpu.packed_weight
from regard.fast.cpu.packed_model import PackedLinear
from regard.fast.cpu.packed_weight import packable
from regard.models import Seq2Seq

from .bundles import MODELS
from .test_translate import TEXTS, Make, assert_same

Carry = Callable[[regard.Translator], regard.Translator]


def pickled(translator: regard.Translator) -> regard.Translator:
    carried: regard.Translator = pickle.loads(pickle.dumps(translator))
    return carried


@pytest.fixture(autouse=True)
def small_weights_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed for decoding like those of larger models."""
    monkeypatch.setattr(regard.fast.cpu.packed_weight, "SMALLEST", 1)


@pytest.mark.parametrize("carry", [deepcopy, pickled])
@pytest.mark.parametrize("name", MODELS)
def test_a_copy_translates_the_same(random_model: Make, name: str, carry: Carry) -> None:
    translator = random_model(name, seed=2)
    before = translator.translate(TEXTS, longest=6, beam=3)  # which makes it ready to decode
    assert isinstance(translator.stepper, Seq2Seq)
    if packable(translator.bundle.model.output.weight):
        assert isinstance(translator.stepper.output, PackedLinear)
    copy = carry(translator)
    assert copy.bundle.model is not translator.bundle.model
    for one, other in zip(copy.translate(TEXTS, longest=6, beam=3), before, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("name", MODELS)
def test_threads_translate_the_same(random_model: Make, name: str) -> None:
    translator = random_model(name, seed=3)
    right = [translator.translate(text, longest=6, beam=2) for text in TEXTS]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: translator.translate(text, longest=6, beam=2), TEXTS * 3))
    for one, other in zip(found, right * 3, strict=True):
        assert_same(one, other, 1e-6)
