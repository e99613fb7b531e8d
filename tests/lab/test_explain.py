"""Worked steps of every mechanism: consistent numbers, and the text that shows them."""

import re
from pathlib import Path

import numpy as np
import pytest

from regard.lab.explanation import ALIASES, MECHANISMS, Explanation, explain
from regard.lab.worked_text import draw_explanation, explanation_blocks, list_mechanisms
from regard.text.input_error import InputError

ATTENDING = [name for name in MECHANISMS if name != "none"]


def written(explanation: Explanation) -> str:
    return "\n\n".join(explanation_blocks(explanation))


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
    text = written(explanation)
    for part in (
        *explanation.equation.split(",  "),
        explanation.paper,
        "score e",
        "mask",
        "weight α",
        "padding",
        "Context  c =",
    ):
        assert part in text
    assert "█" in text
    assert len(draw_explanation(explanation).axes) >= 2


def test_concat_equals_additive() -> None:
    additive, concat = explain("additive"), explain("concat")
    np.testing.assert_allclose(additive.context, concat.context)


def test_heads_look_at_different_words() -> None:
    worked = explain("multi-head").worked
    assert worked is not None
    first, second = worked.weights[:, 0]
    assert first.argmax() != second.argmax()


def test_without_attention_there_is_one_vector_and_no_picture() -> None:
    explanation = explain("none")
    assert "one fixed vector, no alignment exists" in " ".join(written(explanation).split())
    with pytest.raises(InputError, match="one fixed vector, no alignment exists"):
        draw_explanation(explanation)


def test_other_names_and_the_list() -> None:
    assert explain("Bahdanau").name == "additive"
    listed = list_mechanisms()
    for name in (*MECHANISMS, *ALIASES):
        assert name in listed


def test_an_unknown_mechanism_raises_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no mechanism 'aditive': did you mean 'additive'\?"):
        explain("aditive")


@pytest.mark.parametrize("name", ATTENDING)
def test_pictures_keep_the_formula_whole(name: str) -> None:
    explanation = explain(name)
    figure = draw_explanation(explanation)
    title, *lines = figure.get_suptitle().splitlines()
    assert title == explanation.title
    assert ",  ".join(lines).replace(",,", ",") == explanation.equation
    figure.draw_without_rendering()
    (heading,) = figure.texts
    assert heading.get_window_extent().x1 <= figure.bbox.x1, "the formula is cut at the edge"


def test_local_p_draws_its_gaussian() -> None:
    explanation = explain("local-p")
    worked = explanation.worked
    assert worked is not None
    assert worked.gaussian is not None
    assert worked.center is not None
    stages = {axes.get_title(loc="left"): axes for axes in draw_explanation(explanation).axes}
    assert list(stages) == ["scores e", "softmax(e)", "times the Gaussian around p_t = 3.17, σ = 1", "weights α"]
    _, softmax, gaussian, weights = ([bar.get_height() for bar in axes.patches] for axes in stages.values())
    np.testing.assert_allclose(np.array(softmax) * gaussian, weights)
    assert sum(softmax) == pytest.approx(1)
    curve = stages["times the Gaussian around p_t = 3.17, σ = 1"].lines[0].get_xydata()
    assert curve[curve[:, 1].argmax(), 0] == pytest.approx(worked.center[0], abs=0.05)
    np.testing.assert_allclose(np.interp(range(5), *curve.T), worked.gaussian[0], atol=0.01)


@pytest.mark.parametrize("name", ATTENDING)
def test_each_score_can_be_recomputed_from_the_printed_numbers(name: str) -> None:
    explanation = explain(name)
    text = written(explanation)
    sums = re.findall(r"^  (turn|off|the|lights|PAD) +(\(?[-(\d].*) = (-?[\d.]+)$", text, flags=re.MULTILINE)
    assert explanation.worked is not None
    assert len(sums) == explanation.worked.scores.size
    for _, terms, total in sums:
        assert re.fullmatch(r"[-+×/().\d ]+", terms)
        assert eval(terms.replace("×", "*")) == pytest.approx(float(total), abs=5e-4)
    printed = [float(total) for _, _, total in sums]
    np.testing.assert_allclose(printed, explanation.worked.scores.ravel(), atol=5e-5)
    assert all(len(line) < 80 for line in text.splitlines())


def test_the_numbers_of_the_story_are_printed() -> None:
    """Page 3 says that `regard explain` prints its numbers: every table row and score of it."""
    page = (Path(__file__).parents[2] / "docs/story/03-one-step.md").read_text(encoding="utf-8").replace("−", "-")
    said = set(re.findall(r"-?\d+\.\d{4}", page.split("## Step 5")[0])) | {"-0.1293", "0.1754", "0.6292", "0.5372"}
    text = written(explain("additive"))
    assert said <= set(re.findall(r"-?\d+\.\d{4}", text))


def test_global_attention_is_found_by_its_name() -> None:
    assert explain("global").name == "general"


def test_sigma_is_not_used_for_two_things() -> None:
    text = written(explain("local-p"))
    assert "sigmoid(" in text
    assert "σ(" not in text


def test_the_walk_stops_after_each_stage() -> None:
    blocks = explanation_blocks(explain("additive"))
    assert all(block.count("\n") < 20 for block in blocks)
