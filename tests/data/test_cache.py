"""The cache: built once, found by its key, rebuilt if incomplete, never partially visible."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bundle.conftest import small_files
from regard.data.cache import cache_folder, cached_folder
from regard.text.input_error import InputError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def builder(calls: list[Path], text: str = "x" * 5000) -> Callable[[Path], None]:
    def build(folder: Path) -> None:
        calls.append(folder)
        (folder / "a").write_text(text)
        (folder / "b").write_text("b")

    return build


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_folder_is_built_once() -> None:
    calls: list[Path] = []
    first, second, other = (cached_folder("pairs", key, builder(calls)) for key in ("k1", "k1", "k2"))
    assert first == second != other
    assert len(calls) == 2
    assert (first / "a").read_text() == "x" * 5000


def damage_size(place: Path) -> None:
    (place / "a").write_text("x")


def damage_bit(place: Path) -> None:
    (place / "a").write_text("x" * 4999 + "y")


def lose_file(place: Path) -> None:
    (place / "b").unlink()


def lose_list(place: Path) -> None:
    (place / "whole.json").unlink()


def damage_list(place: Path) -> None:
    (place / "whole.json").write_text('{"a": [5')


def empty_list(place: Path) -> None:
    (place / "whole.json").write_text("[]")


@pytest.mark.parametrize("damage", [damage_size, damage_bit, lose_file, lose_list, damage_list, empty_list])
def test_an_incomplete_folder_is_rebuilt_and_reported(damage: Callable[[Path], None]) -> None:
    calls: list[Path] = []
    place = cached_folder("pairs", "k", builder(calls))
    damage(place)
    notes: list[str] = []
    assert cached_folder("pairs", "k", builder(calls), notes) == place
    assert len(calls) == 2
    assert notes == [f"the cache in {place} was damaged or incomplete: it was rebuilt"]
    assert (place / "a").read_text() == "x" * 5000
    cached_folder("pairs", "k", builder(calls), notes)
    assert len(calls) == 2


def test_files_of_a_killed_process_are_removed(home: Path) -> None:
    half = home / "pairs" / ".k-0123abcd.part"
    half.mkdir(parents=True)
    (half / "a").write_text("half")
    cached_folder("pairs", "k", builder([]))
    assert names(home / "pairs") == ["k"]


def test_a_build_that_fails_leaves_nothing(home: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "a").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached_folder("pairs", "k", fail)
    assert names(home / "pairs") == []


def test_a_file_size_limit_raises_and_leaves_no_partial_folder(home: Path) -> None:
    with (
        small_files(1000),
        pytest.raises(InputError, match="larger than this disk or `ulimit -f` allows; no partial files"),
    ):
        cached_folder("pairs", "k", builder([]))
    assert names(home / "pairs") == []
    assert (cached_folder("pairs", "k", builder([])) / "a").read_text() == "x" * 5000


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    mounted = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True)
    if not mounted or mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_raises_and_leaves_no_partial_folder(tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tiny_disk))
    with pytest.raises(InputError) as caught:
        cached_folder("pairs", "k", builder([], "x" * 200_000))
    assert str(caught.value) == (
        f"cannot keep prepared data in {tiny_disk / 'pairs'}: the disk is full; no partial files are left there. "
        "Free some space, or name another folder with the environment variable REGARD_CACHE"
    )
    assert names(tiny_disk / "pairs") == []
    assert (cached_folder("pairs", "k", builder([])) / "b").read_text() == "b"


def test_a_complete_read_only_cache_is_used(tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tiny_disk))
    built = cached_folder("pairs", "k", builder([]))
    for path in built.parent.glob("*.lock"):
        path.unlink()
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    calls: list[Path] = []
    assert (cached_folder("pairs", "k", builder(calls)), calls) == (built, [])
    for kind, key in (("pairs", "other"), ("tokenizers", "k")):
        with pytest.raises(InputError, match="Read-only file system; no partial files are left there"):
            cached_folder(kind, key, builder([]))


def test_a_folder_that_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "file"))
    wanted = r"cannot keep prepared data in .*file/pairs: .* left there\. Name another folder .* REGARD_CACHE"
    with pytest.raises(InputError, match=wanted):
        cached_folder("pairs", "k", builder([]))


def test_two_processes_build_the_same_folder_once() -> None:
    calls: list[Path] = []

    def slow(folder: Path) -> None:
        builder(calls)(folder)
        time.sleep(0.2)

    threads = [threading.Thread(target=cached_folder, args=("pairs", "k", slow)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REGARD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "regard"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "regard"
