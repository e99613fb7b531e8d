"""`Translator.inside`: the states and logits are those that the translation came from."""

from collections.abc import Callable

import numpy as np
import pytest

import regard
from regard.text.input_error import InputError

from .bundles import MODELS

Make = Callable[..., regard.Translator]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    high = logits.max(axis=-1, keepdims=True)
    return logits - high - np.log(np.exp(logits - high).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", [None, "the cat sat"])
def test_logits_give_the_score_of_the_translation(random_model: Make, name: str, target: str | None) -> None:
    model = random_model(name)
    inside = model.inside("the black cat", target=target, longest=6)
    translation = model.translate("the black cat", target=target, longest=6)
    assert inside.source_pieces == translation.source_pieces
    assert len(inside.states) == len(inside.source_pieces)
    assert inside.logits.shape == (len(translation.target_pieces), len(model.bundle.target))
    chosen = log_softmax(inside.logits)[range(len(inside.target_ids)), inside.target_ids]
    np.testing.assert_allclose(np.exp(chosen), translation.probabilities, atol=1e-5)
    assert chosen.sum() == pytest.approx(translation.score, abs=1e-4)


def test_states_are_the_encoders_and_do_not_depend_on_the_target(reverser: regard.Translator) -> None:
    own, forced = reverser.inside("5 9 4"), reverser.inside("5 9 4", target="9 9")
    np.testing.assert_array_equal(own.states, forced.states)
    assert own.target_pieces == ("4", "9", "5", "</s>")
    assert not np.allclose(own.states, reverser.inside("4 9 5").states)


def test_blank_texts_and_ensembles_are_refused(reverser: regard.Translator) -> None:
    with pytest.raises(InputError, match="a blank text has no states and no logits"):
        reverser.inside(" ")
    with pytest.raises(InputError, match="those of one torch model, not of an ensemble: load one bundle"):
        regard.Translator([reverser.bundle, reverser.bundle]).inside("5 9")
