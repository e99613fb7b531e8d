"""Folders are written atomically: killed and failing writers, concurrent readers and writers."""

import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import pytest
import torch

from processes import completed
from regard.bundle import find_bundle, load_bundle
from regard.bundle.bundle_folder import whole_folder
from regard.bundle.manifest import FileEntry
from regard.files import recover
from regard.models import Seq2Seq
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer

from .conftest import Save, add, another_user, first_weights, names, small_files


@pytest.mark.parametrize("how", ["kill", "fail"])
def test_a_process_stopped_at_any_time_leaves_the_old_or_the_new_folder(tmp_path: Path, how: str) -> None:
    script = Path(__file__).with_name("interrupted_save.py")
    done = completed([sys.executable, "-W", "ignore", script, tmp_path / "runs" / "bundle", how], seconds=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= (30 if how == "kill" else 8), done.stdout


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt()])
def test_an_exception_in_the_middle_changes_nothing(folder: Path, error: BaseException) -> None:
    before = first_weights(folder)

    def write_half() -> None:
        with whole_folder(folder) as draft:
            (draft / "half.json").write_text("{")
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert names(folder.parent) == ["best"]
    assert torch.equal(first_weights(folder), before)


def test_an_interrupted_swap_is_undone_by_the_next_reader(folder: Path) -> None:
    aside = folder.with_name(".best.old")
    for look in (find_bundle, load_bundle, recover):
        folder.rename(aside)
        look(folder)
        assert names(folder.parent) == ["best"]
    folder.rename(aside)
    assert find_bundle(folder.parent) == folder


def test_after_an_interrupted_swap_the_next_writer_keeps_the_old_folder(
    folder: Path, model: Seq2Seq, save: Save
) -> None:
    before = first_weights(folder)
    folder.rename(folder.with_name(".best.old"))
    with small_files(100), pytest.raises(InputError):
        save(folder, add(model, 1.0))
    assert torch.equal(first_weights(folder), before)
    folder.rename(folder.with_name(".best.old"))
    save(folder, model)
    assert torch.equal(first_weights(folder), next(model.parameters()))
    assert names(folder.parent) == ["best"]


def test_a_folder_that_cannot_be_moved_raises_instead_of_retrying_for_ever(model: Seq2Seq, save: Save) -> None:
    """Another folder occupies the name that the old one would be moved to."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)
    (place / ".bundle.old").mkdir()
    (place / ".bundle.old" / "theirs").write_text("")
    try:
        with another_user():
            save(place / "bundle", model)
            before = first_weights(place / "bundle")
            with pytest.raises(InputError, match=r"cannot write .*bundle: Directory not empty"):
                save(place / "bundle", add(model, 1.0))
            assert torch.equal(first_weights(place / "bundle"), before)
    finally:
        shutil.rmtree(place)


def test_drafts_of_killed_processes_are_removed_and_those_of_running_ones_are_kept(
    folder: Path, model: Seq2Seq, save: Save
) -> None:
    dead = folder.with_name(".best-00c0ffee.part")
    dead.mkdir()
    (dead / "model.safetensors").write_bytes(b"half")
    unrelated = folder.with_name(".best-of-all")
    unrelated.mkdir()
    with whole_folder(folder) as draft:
        save(draft / "inside", model)
        shutil.copytree(draft / "inside", draft, dirs_exist_ok=True)
        shutil.rmtree(draft / "inside")
        save(folder, add(model, 1.0))
        assert draft.is_dir()
        assert not dead.exists()
    assert names(folder.parent) == [".best-of-all", "best"]
    load_bundle(folder)


def test_a_concurrent_reader_always_sees_a_complete_bundle(folder: Path, model: Seq2Seq, save: Save) -> None:
    stop, failed = threading.Event(), []

    def write() -> None:
        try:
            while not stop.is_set():
                save(folder, model)
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(40):
            load_bundle(folder)
            find_bundle(folder.parent)
    finally:
        stop.set()
        writer.join()
    assert not failed
    assert names(folder.parent) == ["best"]


@pytest.mark.parametrize(("owner", "name"), [(FileEntry, "of"), (Tokenizer, "load")])
def test_a_bundle_replaced_while_it_is_read_is_read_again(
    folder: Path, model: Seq2Seq, save: Save, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    """Before its files are checked, and after that: never the old manifest with the new weights."""
    really, newer = getattr(owner, name), []

    def replace_first(path: Path) -> object:
        if not newer:
            newer.append(None)
            newer.append(save(folder, add(model, 1.0)))
        return really(path)

    monkeypatch.setattr(owner, name, replace_first)
    loaded = load_bundle(folder)
    assert loaded.manifest == newer[1]
    assert torch.equal(next(loaded.model.parameters()), next(model.parameters()))


def test_a_folder_replaced_while_it_is_listed_is_listed_again(
    folder: Path, model: Seq2Seq, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is renamed between opening and listing: the list of the old one is not that of the new one."""
    really, listed = os.listdir, []

    def swapped_first(path: int | Path) -> list[str]:
        if not listed:
            listed.append(path)
            save(folder, add(model, 1.0))
            return ["tokenizer.json"]
        return really(path)

    monkeypatch.setattr(os, "listdir", swapped_first)
    save(folder, model)
    assert listed
    assert torch.equal(first_weights(folder), next(model.parameters()))


def test_concurrent_writers_each_write_a_complete_folder(folder: Path, model: Seq2Seq, save: Save) -> None:
    failed: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(40):
                save(folder, model)
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    load_bundle(folder)
