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
from regard.training.run_folder import read_run_recipe

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


def test_manifests_keep_no_absolute_paths(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_moved_project_resumes(project: Path, tmp_path: Path) -> None:
    (project / "links.align").write_text("0-1 1-0\n" * 4, encoding="utf-8")
    changes = ["train.guide.weight=0.1", f"train.guide.links={project / 'links.align'}", "train.steps=4"]

    def stop(event: object) -> None:
        if getattr(event, "kind", "") == "validated":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(load_recipe(project / "mine.toml", changes), project / "runs" / "mine", listener=stop)
    text = (project / "runs" / "mine" / "recipe.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    moved = project.rename(tmp_path / "elsewhere")
    run = moved / "runs" / "mine"
    assert read_run_recipe(run).data.base == moved
    assert train(read_run_recipe(run), run, resume=True).reason == "steps"
    again = load_recipe(moved / "mine.toml", [*changes[:1], f"train.guide.links={moved / 'links.align'}", changes[2]])
    assert train(again, run, resume=True).reason == "steps"
    with pytest.raises(InputError, match=r"another recipe \(train\.steps was 4, is 5\)"):
        train(again.model_copy(update={"train": again.train.model_copy(update={"steps": 5})}), run, resume=True)


def test_a_run_folder_of_an_earlier_version_with_absolute_paths_resumes(project: Path) -> None:
    run, recipe = project / "runs" / "mine", load_recipe(project / "mine.toml")
    train(recipe, run)
    (run / "recipe.json").write_text(recipe.model_dump_json(), encoding="utf-8")
    assert str(project) in (run / "recipe.json").read_text(encoding="utf-8")
    assert train(read_run_recipe(run), run, resume=True).steps == 0


def test_a_path_that_shares_no_folder_with_the_run_keeps_its_name(project: Path) -> None:
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
