"""The run folder: refused folders, replaced files, and files that must not change before a resume."""

import json
import os
import shutil
from pathlib import Path

import pytest

from regard.bundle.manifest import BundleError, FileEntry
from regard.bundle.store import load_bundle
from regard.text.input_error import InputError
from regard.training.run import train
from regard.training.run_folder import check_folder

from .tiny import contents, entries, equal, tiny, weights

SHORT = tiny(train={"steps": 2})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished run."""
    train(SHORT, tmp_path / "run")
    return tmp_path / "run"


def test_an_existing_run_is_neither_overwritten_nor_resumed_without_an_option(folder: Path) -> None:
    with pytest.raises(InputError, match=r"run exists already: --resume continues that run, --overwrite replaces it, "):
        train(SHORT, folder)
    with pytest.raises(InputError, match="choose one"):
        train(SHORT, folder, resume=True, overwrite=True)


def test_overwriting_replaces_a_run_and_keeps_other_files(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    (folder / "average").mkdir()
    recipe = tiny(train={"steps": 3, "seed": 5})
    train(recipe, folder, overwrite=True)
    assert load_bundle(folder / "last").manifest.trained["steps"] == 3
    assert (folder / "notes.txt").read_text() == "mine"
    assert not (folder / "average").exists()
    assert [entry["step"] for entry in entries(folder, "step")] == [1, 2, 3]


@pytest.mark.parametrize("content", ["{}", "not json", '{"eggs": 3, "flour": "200 g"}', None])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_is_not_a_run_is_never_changed(content: str | None, overwrite: bool, tmp_path: Path) -> None:
    folder = tmp_path / "cakes"
    (folder / "best").mkdir(parents=True)
    (folder / "best" / "chocolate").write_text("mine")
    if content is not None:
        (folder / "recipe.json").write_text(content)
    with pytest.raises(InputError, match=r"cakes holds files that are not a run, and is left unchanged: name another"):
        train(SHORT, folder, overwrite=overwrite)
    assert (folder / "best" / "chocolate").read_text() == "mine"


def test_an_empty_folder_is_used_and_a_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".recipe.json.part").write_text("half of")
    train(SHORT, tmp_path / "empty")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file is a file: name a folder with --out"):
        train(SHORT, tmp_path / "file")
    with pytest.raises(InputError, match=r"cannot write .*: a part of this path is a file"):
        train(SHORT, tmp_path / "file" / "run")


def test_an_unwritable_folder_is_reported_before_the_data_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*given: object) -> None:
        raise AssertionError("too late")

    monkeypatch.setattr("regard.training.setup.prepare", read)
    with pytest.raises(InputError, match=r"^cannot write .*proc/run: "):
        train(SHORT, Path("/proc/run") if Path("/proc").is_dir() else pytest.skip("no /proc on this system"))


def test_there_must_be_a_run_to_resume(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing to resume in .*nowhere: there is no run; leave --resume out"):
        train(SHORT, tmp_path / "nowhere", resume=True)


def test_resuming_with_a_changed_recipe_names_the_changed_keys(folder: Path) -> None:
    before = weights(folder)
    changed = tiny(train={"steps": 9, "learning_rate": 0.5, "source_vectors": "v.vec"}, data={"seed": 3})
    with pytest.raises(InputError) as caught:
        train(changed, folder, resume=True)
    message = (
        "data.seed was 0, is 3; train.learning_rate was 0.001, is 0.5; train.source_vectors was not set, is 'v.vec'; "
        "train.steps was 2, is 9"
    )
    assert f"was started with another recipe ({message}): resume with the same one, or start a new run" in str(
        caught.value
    )
    assert equal(weights(folder), before)


def test_resuming_a_finished_run_trains_no_further_and_changes_nothing(folder: Path) -> None:
    before = contents(folder)
    for _ in range(2):
        result = train(SHORT, folder, resume=True)
        assert (result.steps, result.reason) == (0, "steps")
    assert contents(folder) == before


@pytest.mark.parametrize("keys", [{"steps": None, "epochs": 1}, {"steps": 3}, {"steps": 20, "epochs": 1}])
def test_a_reached_limit_stays_reached_after_resume(keys: dict[str, int], tmp_path: Path) -> None:
    recipe = tiny(train=keys)
    step = train(recipe, tmp_path / "run").progress.step
    assert train(recipe, tmp_path / "run", resume=True).progress.step == step


@pytest.mark.parametrize("name", ["training.json", "training.safetensors"])
@pytest.mark.parametrize("damage", [b"", b"\x00garbage", None])
def test_a_damaged_checkpoint_is_refused_with_its_name(name: str, damage: bytes | None, folder: Path) -> None:
    path = folder / "last" / name
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    with pytest.raises(BundleError, match=r"cannot resume from .*last: .*start_from") as caught:
        train(SHORT, folder, resume=True)
    assert "\n" not in str(caught.value)


def test_a_checkpoint_of_another_version_is_refused(folder: Path) -> None:
    path = folder / "last" / "training.json"
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "progress": {**state["progress"], "mood": "good"}}))
    manifest = json.loads((folder / "last" / "manifest.json").read_text())
    manifest["files"]["training.json"] = FileEntry.of(path).model_dump()
    (folder / "last" / "manifest.json").write_text(json.dumps({**manifest, "sha256": None}))
    with pytest.raises(BundleError, match=r"cannot resume .*mood"):
        train(SHORT, folder, resume=True)


def test_two_processes_never_train_into_one_folder(folder: Path) -> None:
    if os.name == "nt":
        pytest.skip("no locks there")
    with (
        check_folder(folder, SHORT, resume=True, overwrite=False)(),
        pytest.raises(InputError, match=r"another process is training in .*run: wait for it, or stop it first"),
    ):
        train(SHORT, folder, overwrite=True)
    train(SHORT, folder, overwrite=True)


def test_a_new_run_never_uses_partially_removed_files_of_an_old_one(folder: Path) -> None:
    shutil.copytree(folder / "last", folder / ".last.old")
    shutil.copytree(folder / "last", folder / ".last-0123abcd.part")
    other = tiny(train={"steps": 5, "seed": 3})

    def stop(event: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(other, folder, overwrite=True, listener=stop)
    assert sorted(path.name for path in folder.iterdir()) == ["journal.jsonl", "recipe.json"]
    assert train(other, folder, resume=True).steps == 5


def test_a_run_killed_between_two_renames_is_recovered(folder: Path) -> None:
    expected = weights(folder)
    (folder / "last").rename(folder / ".last.old")
    assert train(SHORT, folder, resume=True).steps == 0
    assert equal(weights(folder), expected)
