"""`suggest`: the end of every message about an unknown name."""

import pytest

from regard.suggest import closest, suggest

SCORES = ["additive", "dot", "scaled-dot"]


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        ("aditive", "did you mean 'additive'?"),
        ("SCALED_DOT", "did you mean 'scaled-dot'?"),
        ("bert", "valid scores are additive, dot, scaled-dot"),
        ("", "valid scores are additive, dot, scaled-dot"),
        ("x" * 1_000_000, "valid scores are additive, dot, scaled-dot"),
    ],
    ids=["typing error", "case and dashes", "nothing like it", "empty", "very long"],
)
def test_an_unknown_name_gets_the_closest_name_or_all_names(given: str, ending: str) -> None:
    assert suggest(given, SCORES, "scores") == ending


def test_a_caller_can_replace_the_list() -> None:
    assert suggest("zzz", SCORES, otherwise="nothing like it in data") == "nothing like it in data"
    assert suggest("dott", SCORES, otherwise="nothing like it in data") == "did you mean 'dot'?"
    assert suggest("zzz", [], "recipes in this folder") == "there are no recipes in this folder"


def test_the_closest_name_is_returned_as_it_is_written() -> None:
    assert closest("linear", ["LinearOperator", "Linear"]) == "Linear"
    assert closest("linear", ["Embedding"]) is None
