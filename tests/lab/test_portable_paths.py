"""Bundles keep no absolute paths: data is found from the run folder, and its absence is explained."""

import shutil
from pathlib import Path

import pytest

from regard.bundle.store import load_bundle
from regard.lab.evaluate_model import recipe_files, recipe_pairs
from regard.text.input_error import InputError
from regard.training.portable import portable_recipe
from regard.training.recipe import load_recipe
from regard.training.run import train

RECIPE = """
[data]
kind = "tsv"
train = "data/pairs.tsv"
dev = "data/pairs.tsv"
test = "data/pairs.tsv"
[model]
embedding = 4
encoder_units = 4
decoder_units = 4
[train]
steps = 2
batch_sentences = 4
deterministic = true
device = "cpu"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with data, a recipe and the run trained with it."""
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "pairs.tsv").write_text("a b\tb a\nb c\tc b\nc a\ta c\na c\tc a\n", encoding="utf-8")
    (folder / "mine.toml").write_text(RECIPE, encoding="utf-8")
    return folder


def test_item_20_manifests_keep_no_absolute_paths(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = project / "runs" / "mine"
    train(load_recipe(project / "mine.toml", [f"data.test={project / 'data' / 'pairs.tsv'}"]), run)
    for name in ("best", "last"):
        text = (run / name / "manifest.json").read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert '"base": "../.."' in text
        assert '"test": "data/pairs.tsv"' in text
    bundle = load_bundle(run / "best")
    assert len(recipe_pairs(bundle).pairs) == 4
    assert recipe_files(run) == [project / "data" / "pairs.tsv"] * 3
    moved = project.rename(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    assert len(recipe_pairs(load_bundle("elsewhere/runs/mine/best")).pairs) == 4
    alone = shutil.copytree(moved / "runs" / "mine" / "best", tmp_path / "sent" / "by" / "mail")
    with pytest.raises(
        InputError, match=r"the test data of .*mail cannot be read \(.*pairs\.tsv.*\): name the data to"
    ) as caught:
        recipe_pairs(load_bundle(alone))
    assert f"regard evaluate {alone} pairs.tsv" in str(caught.value)


def test_item_20_a_path_that_shares_no_folder_with_the_run_keeps_its_name(project: Path) -> None:
    overrides = [
        "train.guide.links=/somewhere/private/links.align",
        "train.guide.weight=0.1",
        "data.dev=/other/dev.tsv",
    ]
    overrides.append(f"train.start_from={project.parent / 'runs' / 'first'}")
    found = portable_recipe(load_recipe(project / "mine.toml", overrides), project / "runs" / "mine")
    assert found["train"]["guide"]["links"] == "links.align"
    assert found["data"]["dev"] == "dev.tsv"
    assert found["train"]["start_from"] == "../../../runs/first"
    assert (found["data"]["base"], found["data"]["train"]) == ("../..", "data/pairs.tsv")
