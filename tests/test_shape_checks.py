"""The tests' own checks of types and shapes find what is wrong, at the first call and in a loop of calls."""

import os

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import TypeCheckError

import shape_checks
from regard.attention.masking import masked_softmax, padding_mask
from regard.search.hypothesis import Hypothesis

SCORES, REAL = torch.zeros(2, 3), torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("right_calls_before", "calls"), [(0, 1), (100, shape_checks.INTERVAL)], ids=["first call", "loop"]
)
def test_a_wrong_shape_is_found_at_the_first_call_and_within_a_loop(right_calls_before: int, calls: int) -> None:
    for _ in range(right_calls_before):
        masked_softmax(SCORES, REAL)
    if os.environ.get("REGARD_CHECK_ALL_SHAPES"):
        calls = 1
    found = 0
    for _ in range(calls):
        try:
            masked_softmax(SCORES, REAL[None])  # torch would give [1, 2, 3]
        except BeartypeCallHintViolation:
            found += 1
    assert found == 1


def test_a_shape_that_names_an_argument_is_checked() -> None:
    assert padding_mask(torch.tensor([1, 2]), 3).shape == (2, 3)
    with pytest.raises(TypeCheckError):
        padding_mask(torch.tensor([1.0]), 3)


def test_the_fields_of_a_dataclass_are_checked() -> None:
    with pytest.raises(BeartypeCallHintViolation):
        Hypothesis((1,), 0.0, 0.0, (0.0,), weights=torch.ones(1, 1), finished=True)
