"""Folders appear whole or not at all: killed or failing writers, full and read-only disks, readers beside writers."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from regard.bundle import Manifest, find_bundle, load_bundle
from regard.bundle.folder import explain, recover, whole_folder, write_whole
from regard.models import Seq2Seq
from regard.text.errors import InputError

from .conftest import names, somebody_else

Save = Callable[[Path, Seq2Seq], Manifest]


def add(model: Seq2Seq, amount: float) -> Seq2Seq:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(amount)
    return model


def first_weights(folder: Path) -> torch.Tensor:
    return next(load_bundle(folder).model.parameters()).detach().clone()


@pytest.mark.parametrize("how", ["kill", "fail"])
def test_stopped_at_any_moment_the_old_or_the_new_one_is_whole(tmp_path: Path, how: str) -> None:
    script = Path(__file__).with_name("every_moment.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, tmp_path / "runs" / "bundle", how], capture_output=True, text=True
    )
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


def test_a_swap_cut_short_is_undone_by_whoever_looks(folder: Path) -> None:
    aside = folder.with_name(".best.old")
    for look in (find_bundle, load_bundle, recover):
        folder.rename(aside)
        look(folder)
        assert names(folder.parent) == ["best"]
    folder.rename(aside)
    assert find_bundle(folder.parent) == folder


def test_a_swap_cut_short_does_not_lose_the_old_one_to_the_next_writer(folder: Path) -> None:
    before = first_weights(folder)
    folder.rename(folder.with_name(".best.old"))
    with pytest.raises(RuntimeError), whole_folder(folder):
        raise RuntimeError
    assert torch.equal(first_weights(folder), before)


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_are_not(
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


def test_a_reader_beside_a_writer_always_sees_a_whole_bundle(folder: Path, model: Seq2Seq, save: Save) -> None:
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


def test_two_writers_of_one_folder_each_write_a_whole_one(folder: Path, model: Seq2Seq, save: Save) -> None:
    failed: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(25):
                save(folder, model)
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    load_bundle(folder)


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: what a full disk does to the one that is being written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("most", [0, 1000, 5000])
def test_a_file_that_cannot_grow(folder: Path, model: Seq2Seq, save: Save, most: int) -> None:
    before = first_weights(folder)
    with small_files(most), pytest.raises(InputError) as caught:
        save(folder, add(model, 1.0))
    assert str(caught.value).startswith(
        f"cannot write {folder}: the file would be larger than this disk or `ulimit -f`"
    )
    assert names(folder.parent) == ["best"]
    assert torch.equal(first_weights(folder), before)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for one small bundle and a little more."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    mounted = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=200k", "tmpfs", place], capture_output=True)
    if not mounted or mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk(tiny_disk: Path, model: Seq2Seq, save: Save) -> None:
    save(tiny_disk / "bundle", model)
    before = first_weights(tiny_disk / "bundle")
    free = os.statvfs(tiny_disk)
    (tiny_disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - 8192))
    with pytest.raises(InputError) as caught:
        save(tiny_disk / "bundle", add(model, 1.0))
    wanted = f"cannot write {tiny_disk / 'bundle'}: the disk is full: free some space, or name another folder"
    assert str(caught.value) == wanted
    assert names(tiny_disk) == ["bundle", "filler"]
    assert torch.equal(first_weights(tiny_disk / "bundle"), before)
    with pytest.raises(InputError, match="the disk is full"):
        write_whole(tiny_disk / "report.html", "x" * 50_000)
    assert names(tiny_disk) == ["bundle", "filler"]


def test_a_read_only_disk(tiny_disk: Path, model: Seq2Seq, save: Save) -> None:
    save(tiny_disk / "bundle", model)
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    with pytest.raises(InputError, match=r"cannot write .*: the disk is read-only: name a folder on another one"):
        save(tiny_disk / "bundle", model)
    assert load_bundle(tiny_disk / "bundle").manifest.longest_source == 40


def test_a_folder_one_may_not_write_to(model: Seq2Seq, save: Save) -> None:
    place = Path(tempfile.mkdtemp())
    place.chmod(0o555)
    try:
        with somebody_else():
            for folder in (place / "bundle", place / "deeper" / "bundle"):
                with pytest.raises(InputError) as caught:
                    save(folder, model)
                assert str(caught.value) == (
                    f"cannot write {folder}: permission denied: name a folder you may write to"
                )
        assert names(place) == []
    finally:
        place.chmod(0o755)
        shutil.rmtree(place)


def test_a_file_in_the_way(tmp_path: Path, model: Seq2Seq, save: Save) -> None:
    (tmp_path / "notes").write_text("mine")
    for folder in (tmp_path / "notes", tmp_path / "notes" / "bundle"):
        with pytest.raises(InputError, match=r"a part of this path is a file, not a folder: name another one"):
            save(folder, model)
    assert (tmp_path / "notes").read_text() == "mine"
    assert names(tmp_path) == ["notes"]


def test_somebody_s_other_folder_is_not_replaced(tmp_path: Path, model: Seq2Seq, save: Save) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    with pytest.raises(
        InputError, match=r"holds something else than a bundle, which would be lost: name another folder"
    ):
        save(tmp_path / "thesis", model)
    assert names(tmp_path / "thesis") == ["chapter.tex"]
    (tmp_path / "empty").mkdir()
    save(tmp_path / "empty", model)
    assert names(tmp_path) == ["empty", "thesis"]


@pytest.mark.parametrize("name", ["[1] a*b?", "été", "a b", ".hidden", "x" * 200])
def test_odd_names(tmp_path: Path, model: Seq2Seq, save: Save, name: str) -> None:
    for _ in range(2):
        save(tmp_path / name, model)
    assert names(tmp_path) == [name]


def test_a_name_that_is_too_long(tmp_path: Path, model: Seq2Seq, save: Save) -> None:
    with pytest.raises(InputError, match=r"the name is too long: choose a shorter one"):
        save(tmp_path / ("x" * 300), model)


def test_write_whole_replaces_in_one_move(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.json"
    for text in ("first", "second ए"):
        write_whole(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert names(path.parent) == ["report.json"]
    with small_files(3), pytest.raises(InputError, match=r"cannot write .*report.json: the file would be larger"):
        write_whole(path, "too long")
    assert path.read_text(encoding="utf-8") == "second ए"
    assert names(path.parent) == ["report.json"]


def test_write_whole_leaves_devices_and_links_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    write_whole(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()
    if Path("/dev/full").is_char_device():
        with pytest.raises(InputError, match="cannot write /dev/full: the disk is full"):
            write_whole(Path("/dev/full"), "x")
        assert Path("/dev/full").is_char_device()


def test_write_whole_over_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*folder: this is a folder: name a file"):
        write_whole(tmp_path / "folder", "x")
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full: free some space, or name another folder"),
        (errno.EDQUOT, "the disk quota is used up: free some space, or name another folder"),
        (errno.EROFS, "the disk is read-only: name a folder on another one"),
        (errno.EACCES, "permission denied: name a folder you may write to"),
        (errno.EPERM, "not permitted: name a folder you may write to"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_the_disk_says_in_words(number: int, reason: str) -> None:
    assert str(explain(OSError(number, "?"), Path("runs/demo"))) == f"cannot write runs/demo: {reason}"
