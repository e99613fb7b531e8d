"""Comparisons of several recipes, each as it is."""

from pathlib import Path

import pytest

from regard.lab.compare.plan import compare_recipes, make_plan, plan_changes
from regard.lab.compare.run_plan import open_folder
from regard.text.input_error import InputError


@pytest.fixture
def other(recipe: Path) -> Path:
    path = recipe.with_name("other.toml")
    text = recipe.read_text(encoding="utf-8").replace("steps = 6", "steps = 4").replace("train = 48", "train = 40")
    path.write_text(text, encoding="utf-8")
    return path


def test_recipes_are_compared_as_they_are(recipe: Path, other: Path, tmp_path: Path) -> None:
    comparison = compare_recipes([str(recipe), str(other)])
    plan = make_plan(comparison)
    assert [one.name for one in plan.variants] == ["tiny", "other"]
    assert plan_changes(plan)["other"] == ["data.train: 48 → 40", "train.steps: 6 → 4"]
    slots = open_folder(plan, tmp_path / "out", resume=False)
    assert open_folder(make_plan(comparison), tmp_path / "out", resume=True) == slots
    with pytest.raises(InputError, match="started with another comparison"):
        open_folder(make_plan(compare_recipes([str(other), str(recipe)])), tmp_path / "out", resume=True)


def test_recipes_with_equal_file_names_are_named_by_path(recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    twin = tmp_path / "b" / recipe.name
    twin.write_text(recipe.read_text(encoding="utf-8"), encoding="utf-8")
    plan = make_plan(compare_recipes([str(recipe), str(twin)]))
    assert [one.name for one in plan.variants] == [str(recipe), str(twin)]


def test_recipes_with_different_test_sets_are_refused(recipe: Path, other: Path, tmp_path: Path) -> None:
    other.write_text(other.read_text(encoding="utf-8").replace("longest = 8", "longest = 7"), encoding="utf-8")
    plan = make_plan(compare_recipes([str(recipe), str(other)]))
    with pytest.raises(InputError, match="tiny and other have different test sets"):
        open_folder(plan, tmp_path / "out", resume=False)
    assert not (tmp_path / "out").exists()


def test_invalid_comparisons_of_recipes(recipe: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was given twice"):
        compare_recipes([str(recipe), str(recipe)])
    own = tmp_path / "own.toml"
    own.write_text('recipe = "tiny.toml"\n', encoding="utf-8")
    with pytest.raises(InputError, match="is a comparison: name it alone"):
        compare_recipes([str(recipe), str(own)])
