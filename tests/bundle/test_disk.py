"""Full and read-only disks, missing permissions: one clear line, nothing lost, no files left behind."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from regard.bundle import load_bundle
from regard.bundle.bundle_folder import explain, whole_folder, write_whole
from regard.models import Seq2Seq
from regard.text.input_error import InputError

from .conftest import Save, add, another_user, first_weights, names, small_files


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


def test_a_folder_without_write_permission(model: Seq2Seq, save: Save) -> None:
    place = Path(tempfile.mkdtemp())
    place.chmod(0o555)
    try:
        with another_user():
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


def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path, model: Seq2Seq, save: Save) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    with pytest.raises(InputError, match=r"holds files that are not a bundle and would be lost: name another folder"):
        save(tmp_path / "thesis", model)
    assert names(tmp_path / "thesis") == ["chapter.tex"]
    (tmp_path / "empty").mkdir()
    save(tmp_path / "empty", model)
    assert names(tmp_path) == ["empty", "thesis"]


def test_files_that_appear_while_a_bundle_is_written_are_not_replaced(tmp_path: Path) -> None:
    def write() -> None:
        with whole_folder(tmp_path / "thesis") as draft:
            (draft / "manifest.json").write_text("{}")
            (tmp_path / "thesis").mkdir()
            (tmp_path / "thesis" / "chapter.tex").write_text("mine")

    with pytest.raises(InputError, match=r"holds files that are not a bundle and would be lost: name another"):
        write()
    assert names(tmp_path) == ["thesis"]
    assert names(tmp_path / "thesis") == ["chapter.tex"]


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


def test_write_whole_does_not_replace_pipes_and_links(tmp_path: Path) -> None:
    """`--html /dev/stdout` must not replace the device by a file."""
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, "through it")
        assert pipe.is_fifo()
        assert os.read(reader, 100) == b"through it"
    finally:
        os.close(reader)


def test_writing_to_standard_output_does_not_replace_its_file(tmp_path: Path) -> None:
    """`--save-settings /dev/stdout > file` keeps the other output in the file."""
    code = (
        "import pathlib, regard.bundle.bundle_folder as f; print('before');"
        " f.write_whole(pathlib.Path('/dev/stdout'), 'text\\n'); print('after')"
    )
    with (tmp_path / "file").open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "file").read_text() == "before\ntext\nafter\n"
    assert names(tmp_path) == ["file"]


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
def test_errors_of_the_system_become_messages(number: int, reason: str) -> None:
    assert str(explain(OSError(number, "?"), Path("runs/demo"))) == f"cannot write runs/demo: {reason}"
