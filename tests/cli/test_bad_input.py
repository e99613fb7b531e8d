"""Bad input gives one clear line and the right exit code, and nothing is lost."""

import json
import os
import resource
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from runtime.bundles import RECIPE

from .conftest import Command

TSV = """
[data]
kind = "tsv"
train = "train.tsv"
[model]
preset = "bahdanau"
size = "tiny"
[train]
steps = 2
batch_sentences = 4
"""


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


class TestWarned:
    """Exit code 0, and one output line for each input line."""

    def test_a_blank_line(self, command: Command, run_folder: Path) -> None:
        outcome = command("translate", run_folder, stdin=b"3 4 5\n \t \n6 7 8\n")
        assert (outcome.code, outcome.out) == (0, "5 4 3\n\n8 7 6\n")
        assert outcome.err == "regard: line 2: blank: nothing to translate\n"

    def test_a_sentence_longer_than_the_limit(self, command: Command, run_folder: Path) -> None:
        outcome = command("translate", run_folder, stdin=b"3 4 5\n" + b"3 " * 30 + b"\n")
        assert outcome.code == 0
        assert len(outcome.out.splitlines()) == 2
        assert "regard: line 2: too long: only the first 20 of 30 pieces were read\n" in outcome.err
        whole = command("translate", run_folder, "--longest-source", 30, stdin=b"3 " * 30 + b"\n")
        assert whole.code == 0
        assert "too long" not in whole.err

    def test_unknown_characters(self, command: Command, run_folder: Path) -> None:
        outcome = command("translate", run_folder, stdin="3 שלום 5\n4 😀 6\n7 \x00\x07 8\n".encode())
        assert outcome.code == 0
        assert outcome.out == "5 שלום 3\n6 😀 4\n8 7\n"
        assert outcome.err.splitlines() == [
            "regard: line 1: unknown to this model: 'שלום' (it reads the numbers from 3 to 11)",
            "regard: line 2: unknown to this model: '😀' (it reads the numbers from 3 to 11)",
        ]

    def test_a_file_name_instead_of_text(
        self, command: Command, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write(tmp_path / "3 4", "5 6\n")
        outcome = command("translate", run_folder, "3 4", "4 5", "ü" * 300)
        assert outcome.code == 0
        assert outcome.out.splitlines()[:2] == ["4 3", "5 4"]
        assert outcome.err.splitlines()[0] == (
            "regard: '3 4' was translated as text, but is a file: --input '3 4' translates its lines"
        )

    def test_a_pipe_instead_of_a_file(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        """As --input <(zcat file) names one."""
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"3 4 5\n6 7 8\n",))
        writer.start()
        outcome = command("translate", run_folder, "--input", tmp_path / "pipe")
        writer.join()
        assert (outcome.code, outcome.out) == (0, "5 4 3\n8 7 6\n")

    def test_a_line_of_a_megabyte(self, command: Command, run_folder: Path) -> None:
        outcome = command("translate", run_folder, stdin=b"3 4 " * 10_000 + b"x" * 960_000 + b"\n5 6\n")
        assert outcome.code == 0
        assert len(outcome.out.splitlines()) == 2
        assert "line 1: too long: only the first 20 of 20,001 pieces were read" in outcome.err


class TestFiles:
    """Refused with the file and the line in it."""

    def test_options_above_their_limit(self, command: Command, run_folder: Path) -> None:
        for option, most in (("--beam", "1000"), ("--nbest", "1000"), ("--longest-source", "100000")):
            for value in (int(most) + 1, 10**400):
                outcome = command("translate", run_folder, "3 4 5", option, value)
                assert outcome.code == 2
                assert option in outcome.complaint
                assert f"less than or equal to {most}" in outcome.complaint or f"<={most}" in outcome.complaint
                assert len(outcome.err) < 1500

    @pytest.mark.parametrize("name", ["model.safetensors", "source.tokenizer.json", "manifest.json"])
    @pytest.mark.parametrize("verb", ["translate", "info", "doctor", "evaluate"])
    def test_a_bundle_with_a_pipe_in_it(
        self, command: Command, run_folder: Path, tmp_path: Path, verb: str, name: str
    ) -> None:
        shutil.copytree(run_folder / "best", tmp_path / "forged")
        (tmp_path / "forged" / name).unlink()
        os.mkfifo(tmp_path / "forged" / name)
        outcome = command(verb, tmp_path / "forged", *(["3 4 5"] if verb == "translate" else []))
        assert outcome.code == (1 if verb == "doctor" else 2)
        assert "Traceback" not in outcome.err

    @pytest.mark.parametrize("verb", ["translate", "evaluate"])
    def test_a_missing_file(self, command: Command, run_folder: Path, tmp_path: Path, verb: str) -> None:
        write(tmp_path / "news.txt", "3 4\t4 3\n")
        option = ["--input"] if verb == "translate" else []
        outcome = command(verb, run_folder, *option, tmp_path / "news.tx")
        assert outcome.code == 2
        assert outcome.complaint == f"no file {tmp_path / 'news.tx'}: did you mean 'news.txt'?"

    def test_a_folder_instead_of_a_file(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        outcome = command("translate", run_folder, "--input", tmp_path)
        assert outcome.code == 2
        assert outcome.complaint == f"{tmp_path} is a folder, expected a file"

    def test_unequal_line_counts(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        source, target = write(tmp_path / "s", "3 4\n5 6\n7 8\n"), write(tmp_path / "t", "4 3\n6 5\n")
        outcome = command("evaluate", run_folder, "--source", source, "--target", target)
        assert outcome.code == 2
        assert outcome.complaint == (
            f"unequal line counts: {source} has 3, {target} has 2; line 3 of {source} is the first without a partner"
        )

    def test_invalid_utf8_in_a_file(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        path = write(tmp_path / "latin.txt", b"3 4\ncaf\xe9 5\n")
        outcome = command("translate", run_folder, "--input", path)
        assert outcome.code == 2
        assert outcome.complaint.startswith(f"{path}, line 2: byte 7 of the file (0xe9) is not UTF-8; convert")

    def test_invalid_utf8_on_standard_input(self, command: Command, run_folder: Path) -> None:
        outcome = command("translate", run_folder, stdin=b"3 4 5\n\xff\n")
        assert outcome.code == 2
        assert "regard: standard input, line 2: byte 6 of the file (0xff) is not UTF-8" in outcome.err

    def test_a_binary_file(self, command: Command, run_folder: Path) -> None:
        outcome = command("translate", run_folder, "--input", run_folder / "best" / "model.safetensors")
        assert outcome.code == 2
        assert "is not UTF-8" in outcome.complaint

    def test_an_empty_corpus(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        outcome = command("evaluate", run_folder, write(tmp_path / "empty.tsv", ""))
        assert outcome.code == 2
        assert outcome.complaint == f"{tmp_path / 'empty.tsv'} holds no pair; expected lines of source TAB target"

    def test_an_empty_training_corpus(self, command: Command, tmp_path: Path) -> None:
        write(tmp_path / "train.tsv", "\n\n")
        outcome = command("train", write(tmp_path / "r.toml", TSV), "--out", tmp_path / "run")
        assert outcome.code == 2
        assert "train.tsv holds no pair" in outcome.complaint

    def test_a_missing_training_corpus(self, command: Command, tmp_path: Path) -> None:
        outcome = command("train", write(tmp_path / "r.toml", TSV), "--out", tmp_path / "run")
        assert outcome.code == 2
        assert f"no file {tmp_path / 'train.tsv'}" in outcome.complaint


class TestRecipes:
    """Refused with the key."""

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ("train.step=5", "did you mean 'steps'?"),
            ("train.learning_rate=quick", "learning_rate"),
            ("model.score=aditive", "did you mean 'additive'?"),
            ("nonsense", "--set nonsense"),
            ("=", "--set ="),
            ("train=5", "train"),
        ],
        ids=["unknown key", "no number", "unknown score", "no equals", "nothing", "no table"],
    )
    def test_an_unknown_or_impossible_key(self, command: Command, tmp_path: Path, change: str, message: str) -> None:
        recipe = write(tmp_path / "r.toml", RECIPE)
        outcome = command("train", recipe, "--out", tmp_path / "run", "--set", change)
        assert outcome.code == 2
        assert message in outcome.complaint
        assert not (tmp_path / "run").exists()

    def test_resume_with_a_changed_recipe(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        shutil.copytree(run_folder, folder)
        recipe = write(tmp_path / "r.toml", RECIPE)
        outcome = command("train", recipe, "--out", folder, "--resume", "--set", "train.learning_rate=0.5")
        assert outcome.code == 2
        assert "learning_rate" in outcome.complaint
        assert "0.5" in outcome.complaint

    def test_a_folder_that_exists(self, command: Command, run_folder: Path, tmp_path: Path) -> None:
        outcome = command("train", write(tmp_path / "r.toml", RECIPE), "--out", run_folder)
        assert outcome.code == 2
        assert "--resume" in outcome.complaint
        assert "--overwrite" in outcome.complaint


def _flip(folder: Path) -> None:
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[len(data) // 2] ^= 0xFF
    write(folder / "model.safetensors", bytes(data))


def _truncate(folder: Path) -> None:
    data = (folder / "model.safetensors").read_bytes()
    write(folder / "model.safetensors", data[: len(data) // 2])


def _another_tokenizer(folder: Path) -> None:
    config = TokenizerConfig(kind="word")
    write(folder / "source.tokenizer.json", Tokenizer.train(["the black cat sat on the mat"], config).data)


def _change_manifest(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        write(folder / "manifest.json", json.dumps({**manifest, **changes}))

    return change


class TestBundles:
    """Refused with the damaged file, by every verb that loads a bundle."""

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (_flip, "model.safetensors is damaged (its checksum is not the manifest's): copy the whole bundle again"),
            (_truncate, "it is truncated, copy the whole bundle again"),
            (lambda folder: (folder / "target.tokenizer.json").unlink(), "target.tokenizer.json is missing"),
            (lambda folder: write(folder / "manifest.json", '{"format": "regard-bu'), "manifest.json is damaged"),
            (lambda folder: write(folder / "manifest.json", "[1, 2]"), "manifest.json is not a regard manifest"),
            (_another_tokenizer, "source.tokenizer.json is not the tokenizer that this model was trained with"),
            (_change_manifest(format="other"), "manifest.json is not a regard manifest"),
            (_change_manifest(version=99), "has bundle version 99"),
            (lambda folder: (folder / "manifest.json").unlink(), "no bundle at"),
        ],
        ids=[
            "flipped bit",
            "truncated",
            "file missing",
            "manifest cut",
            "a list",
            "another tokenizer",
            "foreign",
            "newer",
            "no manifest",
        ],
    )
    def test_a_damaged_bundle(
        self, command: Command, run_folder: Path, tmp_path: Path, damage: Callable[[Path], object], message: str
    ) -> None:
        folder = tmp_path / "bundle"
        shutil.copytree(run_folder / "best", folder)
        damage(folder)
        for verb in ("translate", "evaluate", "info"):
            outcome = command(verb, folder, *(["3 4"] if verb == "translate" else []))
            assert outcome.code == 2
            assert message in outcome.complaint

    @pytest.mark.parametrize("path", ["/dev/null", "pyproject.toml", "no/such/place", ""])
    def test_paths_that_are_not_bundles(self, command: Command, path: str) -> None:
        outcome = command("translate", path, "3 4")
        assert outcome.code == 2
        assert outcome.complaint.startswith(f"no bundle at {path or '.'}: ")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 60 kB, if this machine allows mounting one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here: that takes root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "fixed"
    folder.mkdir()
    if os.geteuid():
        write(folder / "old", "kept")
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("root may write everywhere, and a read-only disk cannot be mounted here")
    write(folder / "old", "kept")
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


class TestDisks:
    """Failures of the machine exit with 1."""

    def test_a_full_cache_and_an_incomplete_one(
        self, command: Command, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path / "train.tsv", "".join(f"a{n} b{n} c{n}\tx{n} y{n} z{n}\n" for n in range(3000)))
        recipe = write(
            tmp_path / "pairs.toml", TSV.replace('train = "train.tsv"', 'train = "train.tsv"\nheld_out = 0.1')
        )
        monkeypatch.setenv("REGARD_CACHE", str(small_disk))
        outcome = command("train", recipe, "--out", tmp_path / "run", "--set", "text.kind=character")
        assert outcome.code == 1
        *stages, complaint = outcome.err.splitlines()
        assert all(line.startswith("preparing: ") for line in stages)
        assert "the disk is full; no partial files are left there" in complaint
        assert not (tmp_path / "run").exists()
        assert not [one for one in (small_disk / "pairs").glob("*") if one.is_dir()]
        monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
        for damaged in (False, True):
            if damaged:
                (ids,) = (tmp_path / "cache" / "pairs").glob("*/source.ids")
                write(ids, ids.read_bytes()[:1000])
            trained = command("train", recipe, "--out", tmp_path / f"run-{damaged}", "--set", "text.kind=character")
            assert trained.code == 0, trained.err
            assert ("was damaged or incomplete: it was rebuilt" in trained.err) == damaged

    @pytest.mark.parametrize("what", ["output", "html", "plot", "train"])
    def test_a_full_disk(self, command: Command, run_folder: Path, small_disk: Path, tmp_path: Path, what: str) -> None:
        lines = write(tmp_path / "lines", "3 4 5 6 7 8\n" * 8000)
        filler = write(small_disk / "filler", b"x" * 40_000)
        outcome = command(*_writing(what, run_folder, small_disk, lines, tmp_path))
        assert outcome.code == 1
        assert "the disk is full: free some space, or name another folder" in outcome.err.splitlines()[-1]
        assert filler.stat().st_size == 40_000
        assert not (small_disk / "out.txt").exists()

    @pytest.mark.parametrize("what", ["output", "html", "plot", "train"])
    def test_a_read_only_disk(
        self, command: Command, run_folder: Path, read_only_disk: Path, tmp_path: Path, what: str
    ) -> None:
        lines = write(tmp_path / "lines", "3 4 5\n")
        outcome = command(*_writing(what, run_folder, read_only_disk, lines, tmp_path))
        assert outcome.code == 1
        last = outcome.err.splitlines()[-1]
        assert last.startswith(f"regard: cannot write {read_only_disk}")
        assert "read-only" in last or "permission denied" in last

    @pytest.mark.parametrize("option", ["--output", "--html", "--save-settings"])
    def test_a_file_on_a_read_only_disk_is_refused_before_the_work(
        self, command: Command, run_folder: Path, read_only_disk: Path, tmp_path: Path, option: str
    ) -> None:
        pairs, old = write(tmp_path / "pairs.tsv", "3 4 5\t5 4 3\n"), read_only_disk / "old"
        (tmp_path / "link").symlink_to(old)
        for place in (old, tmp_path / "link"):
            outcome = command("align", run_folder, pairs, option, place)
            assert (outcome.code, outcome.out, "1 pair" in outcome.err) == (1, "", False)
            assert f"cannot write {place}: " in outcome.complaint
        assert old.read_text("utf-8") == "kept"

    def test_a_file_that_may_not_grow(self, process: Command, run_folder: Path, tmp_path: Path) -> None:
        lines = write(tmp_path / "lines", "3 4 5 6 7 8\n" * 1000)
        outcome = process(
            "translate", run_folder, "--input", lines, "--output", tmp_path / "out.txt",
            preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        )  # fmt: skip
        assert outcome.code == 1
        first, second = outcome.err.splitlines()
        assert first == f"regard: the output so far is in {tmp_path / 'out.txt.part'}"
        assert second.startswith(f"regard: cannot write {tmp_path / 'out.txt'}: the file would be larger than")


def _writing(what: str, bundle: Path, disk: Path, lines: Path, scratch: Path) -> list[object]:
    """A command that writes to a disk in one way or another."""
    if what == "output":
        return ["translate", bundle, "--input", lines, "--output", disk / "out.txt"]
    if what == "html":
        return ["translate", bundle, "3 4 5", "--html", disk / "page.html"]
    if what == "plot":
        return ["plot", bundle, "3 4 5", "--out", disk / "map.png"]
    return ["train", write(scratch / "r.toml", RECIPE), "--out", disk / "run", "--set", "train.steps=1"]
