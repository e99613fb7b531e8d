"""Worked steps: every mechanism, in numbers that add up and text that shows them."""

import numpy as np
import pytest

from regard.lab.explain import ALIASES, MECHANISMS, explain
from regard.lab.worked_text import draw_explanation, list_mechanisms, write_explanation
from regard.text.errors import InputError

ATTENDING = [name for name in MECHANISMS if name != "none"]


@pytest.mark.parametrize("name", ATTENDING)
def test_weights_are_shares_and_padding_gets_none(name: str) -> None:
    explanation = explain(name)
    assert explanation.worked is not None
    weights = explanation.worked.weights.reshape(-1, 5)
    assert (weights >= 0).all()
    assert (weights[:, -1] == 0).all()
    if name == "local-p":
        assert 0 < weights.sum() < 1
    else:
        np.testing.assert_allclose(weights.sum(axis=-1), 1)


@pytest.mark.parametrize("name", ATTENDING)
def test_the_text_shows_every_stage(name: str) -> None:
    explanation = explain(name)
    text = write_explanation(explanation)
    for part in (explanation.equation, explanation.paper, "score e", "mask", "weight α", "padding", "Context  c ="):
        assert part in text
    assert "█" in text
    assert len(draw_explanation(explanation).axes) >= 2


def test_concat_is_additive_in_other_words() -> None:
    additive, concat = explain("additive"), explain("concat")
    np.testing.assert_allclose(additive.context, concat.context)


def test_heads_look_at_different_words() -> None:
    worked = explain("multi-head").worked
    assert worked is not None
    first, second = worked.weights[:, 0]
    assert first.argmax() != second.argmax()


def test_without_attention_there_is_one_vector_and_no_picture() -> None:
    explanation = explain("none")
    assert "one fixed vector, no alignment exists" in write_explanation(explanation)
    with pytest.raises(InputError, match="one fixed vector, no alignment exists"):
        draw_explanation(explanation)


def test_other_names_and_the_list() -> None:
    assert explain("Bahdanau").name == "additive"
    listed = list_mechanisms()
    for name in (*MECHANISMS, *ALIASES):
        assert name in listed


def test_an_unknown_mechanism_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no mechanism 'aditive': did you mean 'additive'\?"):
        explain("aditive")
