"""Atomic writes and locks: killed and failing writers, writers side by side, links, modes, devices and locks."""

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bundle.conftest import another_user, names, small_files
from regard.files import hold, locked, spare_name, standard_stream, whole_file, write_whole


def in_child(work: Callable[[], object]) -> int:
    """The exit status of a forked process that does this; negative for a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def killed_while_writing(path: Path) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_writer_leaves_the_old_file_and_the_next_writer_removes_its_draft(tmp_path: Path) -> None:
    path = tmp_path / "[1] a*b?"
    write_whole(path, "old")
    assert in_child(lambda: killed_while_writing(path)) == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(names(tmp_path)) == 2
    write_whole(path, "new")
    assert (path.read_text(), names(tmp_path)) == ("new", [path.name])


def test_the_draft_of_a_living_writer_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with whole_file(path) as file:
        file.write(b"slow")
        assert in_child(lambda: write_whole(path, "quick")) == 0
        assert path.read_text() == "quick"
    assert (path.read_text(), names(tmp_path)) == ("slow", ["out"])


def test_concurrent_writers_of_one_file_each_write_it_completely(tmp_path: Path) -> None:
    path, failed = tmp_path / "out", []

    def write(letter: str) -> None:
        try:
            for _ in range(50):
                write_whole(path, letter * 10_000)
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=letter) for letter in "abc"]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        if path.exists():
            text = path.read_text()
            assert (len(text), len(set(text))) == (10_000, 1)
    assert not failed
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt()])
def test_an_exception_in_the_middle_changes_nothing(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "out"
    write_whole(path, "old")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert (path.read_text(), names(tmp_path)) == ("old", ["out"])


def test_a_failing_disk_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_whole(path, "old")
    with small_files(3), pytest.raises(OSError, match="File too large"):
        write_whole(path, b"longer")
    assert (path.read_text(), names(tmp_path)) == ("old", ["out"])


def test_an_unfinished_file_is_kept_under_a_new_name_on_request(tmp_path: Path) -> None:
    path, kept = tmp_path / "out", []
    mine = {"out.part": "mine", "out.2.part": "mine too"}
    for name, text in mine.items():
        (tmp_path / name).write_text(text)

    def fail(data: bytes) -> None:
        with whole_file(path, kept=kept.append) as file:
            file.write(data)
            raise KeyboardInterrupt

    for data in (b"", b"half"):
        with pytest.raises(KeyboardInterrupt):
            fail(data)
    assert kept == [tmp_path / "out.3.part"]
    assert kept[0].read_text() == "half"
    assert {name: (tmp_path / name).read_text() for name in mine} == mine
    assert names(tmp_path) == ["out.2.part", "out.3.part", "out.part"]


def test_a_link_with_the_spare_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    for target in ("victim", "nothing"):
        link = tmp_path / "out.part"
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / target)
        assert spare_name(tmp_path / "out") != link
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_an_existing_mode_stays_and_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    old, new, seen = tmp_path / "old", tmp_path / "new", []
    old.write_text("secret")
    old.chmod(0o600)
    before = os.umask(0o027)
    try:
        with whole_file(old) as file:
            seen.append(mode(Path(file.name)))
        write_whole(new, "x")
    finally:
        os.umask(before)
    assert (seen, mode(old), mode(new)) == ([0o600], 0o600, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to somebody else")
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.write_text("old")
    os.chown(path, 65534, 65534)
    write_whole(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


def test_a_file_without_write_permission_is_not_replaced(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    path = tmp_path / "kept"
    path.write_text("old")
    path.chmod(0o444)
    place = os.getcwd()
    os.chdir(tmp_path)  # others may not look into the folders above
    try:
        with another_user(), pytest.raises(PermissionError):
            write_whole("kept", "new")
    finally:
        os.chdir(place)
    assert (path.read_text(), names(tmp_path)) == ("old", ["kept"])


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "other name").hardlink_to(tmp_path / "real")
    for name, target in (("link", "real"), ("dangling", "later")):
        (tmp_path / name).symlink_to(target)
        write_whole(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / target).read_text() == "new"
    assert (tmp_path / "other name").read_text() == "old"


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127):
        write_whole(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"


def test_a_missing_folder_is_an_error_unless_parents(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file"
    with pytest.raises(FileNotFoundError):
        write_whole(path, "x")
    write_whole(path, "x", parents=True)
    assert path.read_text() == "x"


def test_standard_output_is_written_to_directly(tmp_path: Path) -> None:
    code = "import sys, regard.files as f; print('before'); f.write_whole(sys.argv[1], 'text\\n'); print('after')"
    wanted = "before\ntext\nafter\n"
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        command = [sys.executable, "-c", code, name]
        assert subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout == wanted
        with (tmp_path / "file").open("w") as file:
            subprocess.run(command, stdout=file, check=True)
        assert (tmp_path / "file").read_text() == wanted
    assert names(tmp_path) == ["file"]


def test_a_pipe_of_the_shell_is_written_to(tmp_path: Path) -> None:
    """As in `--output >(gzip > out.gz)`, which names a descriptor."""
    reader, writer = os.pipe()
    write_whole(f"/dev/fd/{writer}", "through it")
    os.close(writer)
    with os.fdopen(reader) as file:
        assert file.read() == "through it"


def test_a_process_without_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert standard_stream(tmp_path) is None


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        with locked(path):
            os.write(writer, b"!")
            signal.pause()
    try:
        assert os.read(reader, 1) == b"!"
        with pytest.raises(BlockingIOError):
            hold(path)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)
    waited: list[None] = []
    with locked(path, lambda: waited.append(None)):
        assert not waited


@pytest.mark.parametrize(("repeat", "calls"), [(False, 1), (True, 3)])
def test_waiting_for_a_lock_is_reported_once_or_repeatedly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeat: bool, calls: int
) -> None:
    held, pauses, reported = hold(tmp_path / "lock", create=True), [], []
    assert held is not None

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            os.close(held)

    monkeypatch.setattr("time.sleep", pause)
    with locked(tmp_path / "lock", lambda: reported.append(None), repeat=repeat):
        assert len(reported) == calls


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path / "lock"):
        pass
    assert names(tmp_path) == ["lock"]
