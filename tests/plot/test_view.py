"""`regard.view`: weights of any model, as arrays, lists or tensors, with strings as labels."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import regard
from regard.alignment.links import Links
from regard.plot import EOS, AttentionMap, Label

WEIGHTS = [[0.9, 0.1], [0.2, 0.8]]


def test_an_attention_map_takes_strings() -> None:
    made = AttentionMap(np.array(WEIGHTS), ["the", "cat"], ["le", None])
    assert made.source == (Label("the"), Label("cat"))
    assert made.target == (Label("le"), EOS)
    assert AttentionMap(np.array(WEIGHTS), "the cat", "le chat").target == (Label("le"), Label("chat"))
    with pytest.raises(ValueError, match=r"2 × 2 .* 2 target and 3 source labels; every row and column needs a label"):
        AttentionMap(np.array(WEIGHTS), "the black cat", "le chat")


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS,
        np.array(WEIGHTS, dtype=np.float32),
        torch.tensor(WEIGHTS, requires_grad=True),
        torch.tensor(WEIGHTS, dtype=torch.bfloat16),
    ],
    ids=["list", "array", "tensor", "bfloat16"],
)
def test_view_shows_weights_as_text_picture_and_page(weights: object) -> None:
    seen = regard.view(weights, "the cat", ["le", "chat"], links=Links.of([(0, 0)]))
    assert "chat" in str(seen)
    assert "█" in str(seen)
    assert repr(seen) == "AttentionView(2 target × 2 source words)"
    assert len(seen.plot().axes) == 2
    assert "<title>Where the model looked</title>" in seen.html()
    assert seen._repr_html_().startswith("<iframe srcdoc=")
    np.testing.assert_allclose(seen.attention_map.drawn(), WEIGHTS, atol=1e-2)


def test_a_map_can_be_changed_in_part() -> None:
    made = AttentionMap(np.array(WEIGHTS), "the cat", "le chat", links=Links.of([(0, 0)], [(1, 1)]))
    changed = replace(made, title="a cat")
    assert (changed.title, changed.sure, changed.possible) == ("a cat", made.sure, made.possible)


def test_view_raises_for_scores_instead_of_weights() -> None:
    with pytest.raises(ValueError, match="pass weights after the softmax, not scores"):
        regard.view([[3.0, -1.0]], "the cat", "le")
