"""`regard data`: list, get, show, and wrong use."""

import gzip
import json
import resource
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from regard.data import catalogue as module
from regard.data.catalogue import CatalogueEntry
from regard.data.fetch import text_digest
from regard.files import locked

from .conftest import Command


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("REGARD_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "regard"


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus in it that the catalogue knows."""
    folder = tmp_path / "corpora" / "little"
    folder.mkdir(parents=True)
    (folder / "train.tsv.gz").write_bytes(
        gzip.compress(b"one\tun\ntwo\tdeux\n" + b"".join(b"so %d long\tl\n" % i for i in range(100)))
    )
    (folder / "test.tsv").write_text("three\ttrois\n")
    files = {
        name: {"sha256": text_digest(folder / path), "lines": lines, "bytes": 10_000}
        for name, path, lines in (("train.tsv", "train.tsv.gz", 102), ("test.tsv", "test.tsv", 1))
    }
    about = {"name": "little", "title": "A little", "origin": "here", "licence": "none", "use": "tests"}
    entry = CatalogueEntry.model_validate(
        {**about, "acknowledge": "us", "layout": "tsv", "sides": ["en", "fr"], "train": "train", "files": files}
    )
    monkeypatch.setattr(module, "catalogue", lambda: {"little": entry})
    return tmp_path / "corpora"


def test_the_list(command: Command) -> None:
    outcome = command("data")
    assert (outcome.code, outcome.err) == (0, "")
    assert "multi30k            Multi30k: image captions in English, German and French\n" in outcome.out
    assert "en de fr; 29,000 / 1,014 / 1,000 pairs; licence: non-commercial research and education only" in outcome.out
    assert "word ipa; 3,600 / 450 / 450 pairs for each of 15 languages" in outcome.out
    assert "✓" not in outcome.out
    listed = json.loads(command("data", "list", "--json").out)
    assert {one["name"] for one in listed} >= {"multi30k", "tatoeba-en-fr", "hansards-en-fr"}
    (multi30k,) = [one for one in listed if one["name"] == "multi30k"]
    assert multi30k["recipes"] == [
        "multi30k-de-en", "multi30k-en-de", "multi30k-en-de-luong", "multi30k-en-de-transformer", "multi30k-en-fr",
    ]  # fmt: skip
    assert multi30k["splits"]["test_2017_flickr"] == 1000


def test_a_public_corpus_can_be_fetched(command: Command) -> None:
    assert "here        no: `regard data get multi30k`\n" in command("data", "show", "multi30k").out


def test_waiting_is_reported_without_a_terminal(command: Command, origin: Path, home: Path) -> None:
    home.mkdir(parents=True)
    with ExitStack() as other:
        other.enter_context(locked(home / ".little.lock"))
        release = threading.Timer(1, other.close)
        release.start()
        outcome = command("data", "get", "little", "--from", origin)
        release.join()
    assert outcome.code == 0
    assert outcome.err.startswith("regard: waiting for another process that fetches little\nlittle: 2 files checked")


def test_get_and_show(command: Command, origin: Path, home: Path) -> None:
    before = command("data", "show", "little")
    assert "here        no: `regard data get little --from DIR`\n" in before.out  # it has no public address
    got = command("data", "get", "little", "--from", origin)
    assert (got.code, got.out) == (0, f"{home / 'little'}\n")
    assert "little: 2 files checked (2 copied)" in got.err
    assert "licence: none. Acknowledge: us" in got.err
    assert "(2 here already)" in command("data", "get", "little").err
    shown = command("data", "show", "little").out
    assert "splits      train 102, test 1" in shown
    assert f"here        {home / 'little'}, every file checked" in shown
    assert "            one  →  un\n            two  →  deux\n            so 0 long  →  l\n" in shown
    assert "✓ little" in command("data", "list").out
    (home / "little" / "test.tsv").write_text("four\tquatre\n")
    assert "missing or damaged: test.tsv" in command("data", "show", "little").out


def test_the_folder_in_the_environment_is_used_as_it_is(
    command: Command, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(origin))
    outcome = command("data", "get", "little")
    assert outcome.out == f"{origin / 'little'}\n"
    assert "(2 here already)" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gett", "multi30k"], "there is no action 'gett'; there are list, get, show"),
        (["get"], "get needs the name of a corpus"),
        (["show", "multi30k", "g2p-cmudict"], "show needs the name of one corpus"),
        (["list", "multi30k"], "list takes no name; `regard data show multi30k`"),
        (["show", "multi30k", "--from", "x"], "--from is an option of get, not of show"),
        (["get", "mutli30k"], "no corpus 'mutli30k' in the catalogue: did you mean 'multi30k'?"),
        (["get", "multi30k", "--from", "nowhere"], "--from nowhere: there is no such folder"),
        (["get", "tatoeba-en-fr"], "tatoeba-en-fr has no public address for dev.tsv and others"),
    ],
)
def test_wrong_use(command: Command, arguments: list[str], message: str) -> None:
    outcome = command("data", *arguments)
    assert outcome.code == 2
    assert message in outcome.complaint


def test_a_disk_that_fills_while_a_corpus_is_prepared(process: Command, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"w{i} a\tB {i}\n" for i in range(3000)))
    (tmp_path / "own.toml").write_text(
        '[data]\nkind = "tsv"\ntrain = "pairs.tsv"\n[model]\npreset = "luong"\nsize = "tiny"\n'
        "[train]\nsteps = 1\nbatch_sentences = 4\n"
    )

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

    outcome = process("train", "own.toml", preexec=small)
    assert outcome.code == 1
    *stages, complaint = outcome.err.splitlines()
    assert all(line.startswith("preparing: ") for line in stages)
    assert "cannot keep prepared data in" in complaint
    assert "no partial files are left there" in complaint
    assert not (tmp_path / "runs").exists()
    again = process("train", "own.toml")
    assert again.code == 0, again.err
