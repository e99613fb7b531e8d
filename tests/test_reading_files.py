"""Issue 13, item 3: files of any kind, depth and size are read, or refused with one message; nothing hangs."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from bundle.conftest import ABOUT, SMALL
from bundle.forged import change
from regard.alignment.formats import parse_naacl, parse_pharaoh
from regard.bundle import load_bundle, save_bundle
from regard.bundle.store import write_bundle
from regard.course.learner_progress import load_progress
from regard.data.corpora import read_tsv
from regard.data.lines import read_lines
from regard.data.records import read_jsonl
from regard.lab.align_settings import AlignSettings
from regard.models import Seq2Seq, preset
from regard.reading_files import open_regular, parse_json, parse_toml, read_json, read_regular
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer, TokenizerConfig
from regard.training import run_folder
from regard.training.checkpoint import load_checkpoint
from regard.training.journal import read_journal
from regard.training.recipe import load_recipe

DEEP = "[" * 100_000 + "]" * 100_000
SOME = "[" * 100 + "]" * 100


@pytest.mark.parametrize("text", [DEEP, SOME, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000])
def test_deep_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="nested more than 64 levels deep"):
        parse_json(text)
    assert parse_json("[" * 64 + "]" * 64)


def test_json_of_too_many_values_is_refused_before_it_is_read() -> None:
    for text in ("[" + "1," * 4_100_000 + "1]", "[" + "[]," * 1_300_000 + "1]"):
        with pytest.raises(ValueError, match="more than 1,200,000 lists and tables or 4,000,000 values"):
            parse_json(text)


def test_duplicate_keys_are_refused() -> None:
    assert parse_json('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(ValueError, match="the key 'a' occurs twice in one object"):
        parse_json('{"b": {"a": 1, "a": 2}}', unique=True)


def test_valid_toml_is_read() -> None:
    text = "a.b.c = 1\n[x.'y.z'.\"w\"]\nq = [[1], {r = 2}]\nversion = 'see 1.2.3, or e.g. a.b.c.d'\n"
    assert parse_toml(text)["x"]["y.z"]["w"]["q"] == [[1], {"r": 2}]


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("/dev/null", path)]
)
def test_special_files_are_refused_without_blocking(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "special")
    with pytest.raises(OSError, match="this is a device, a pipe or a socket, expected a regular file"):
        open_regular(tmp_path / "special")


def test_a_link_to_a_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "two.json").symlink_to("one.json")
    assert read_json(tmp_path / "two.json") == [1]
    with pytest.raises(ValueError, match="it has 3 bytes, at most 2 are read"):
        read_regular(tmp_path / "two.json", 2)
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


@pytest.mark.parametrize(
    "deep", [DEEP, SOME, '{"source": "a", "target": ' + SOME + "}"], ids=["deep", "some", "inside"]
)
def test_deep_json_lines_are_refused_with_their_number(deep: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"source": "a", "target": "b"}\n' + deep + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pairs.jsonl, line 2 is not JSON \(it is nested more than 64 levels deep\)"):
        list(read_jsonl(path, "source", "target"))


def test_deep_json_in_a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_text(DEEP, encoding="utf-8")
    with pytest.raises(InputError, match="nothing to resume in"):
        run_folder.check_folder(tmp_path, load_recipe("demo"), resume=True, overwrite=False)
    journal = tmp_path / "journal.jsonl"
    journal.write_text(f'{{"event": "started"}}\n{DEEP}\n{{"event": "step"}}\n', encoding="utf-8")
    assert [entry["event"] for entry in read_journal(journal)] == ["started", "step"]


def test_a_journal_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "journal.jsonl")
    with pytest.raises(InputError, match=r"cannot read .*journal.jsonl: this is a device, a pipe or a socket"):
        read_journal(tmp_path / "journal.jsonl")


def test_other_readers_of_deep_json(tmp_path: Path) -> None:
    (tmp_path / "reading.json").write_text(DEEP, encoding="utf-8")
    with pytest.raises(InputError, match="holds no alignment settings"):
        AlignSettings.load(tmp_path / "reading.json")
    (tmp_path / ".progress.json").write_text(DEEP, encoding="utf-8")
    assert "was damaged, so progress starts anew" in load_progress(tmp_path).notes[0]


def test_a_line_of_gigabytes_is_refused_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tsv.gz"
    path.write_bytes(b"".join(gzip.compress(b"one\tun\n" * number + b"x" * (1 << 25), 1) for number in (1, 0)))
    with pytest.raises(InputError, match=r"bomb.tsv.gz, line 2 has more than 16,777,216 bytes: break it"):
        list(read_tsv(path))


def test_a_zstd_bomb_is_unpacked_in_small_blocks(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "bomb.zst"
    with pyarrow.CompressedOutputStream(pyarrow.OSFile(str(path), "wb"), "zstd") as packed:
        for _ in range(64):
            packed.write(bytes(1 << 24))
    with pytest.raises(InputError, match=r"bomb.zst, line 1 has more than 16,777,216 bytes"):
        list(read_lines(path))


def saved(folder: Path, save: Callable[..., object] = save_bundle) -> Seq2Seq:
    """A small model, and its bundle in this folder."""
    tokenizer = Tokenizer.train(["a b c"], TokenizerConfig())
    model = Seq2Seq(preset("bahdanau", "tiny", **SMALL), len(tokenizer), len(tokenizer))
    save(folder, model, tokenizer, tokenizer, **ABOUT)
    return model


def test_an_ordinary_bundle_loads_without_drawing_random_numbers(tmp_path: Path) -> None:
    model = saved(tmp_path / "bundle")
    before = torch.get_rng_state()
    loaded = load_bundle(tmp_path / "bundle").model
    assert torch.equal(torch.get_rng_state(), before)
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


@pytest.mark.parametrize("name", ["training.json", "training.safetensors"])
@pytest.mark.parametrize("kind", ["deep", "pipe", "hole"])
@pytest.mark.parametrize("version", [1, 2])
def test_a_forged_checkpoint_raises_a_message(version: int, kind: str, name: str, tmp_path: Path) -> None:
    last = tmp_path / "last"
    last.mkdir()
    (last / "training.json").write_text(json.dumps({"progress": {}, "data": ""}), encoding="utf-8")
    save_file({}, last / "training.safetensors")
    saved(last, write_bundle)
    (last / name).unlink()
    if kind == "pipe":
        os.mkfifo(last / name)
    else:
        (last / name).write_bytes(DEEP.encode() if kind == "deep" else (2).to_bytes(8, "little") + b"{}")
        if kind == "hole":
            os.truncate(last / name, 1 << 40)
    if version == 1:  # its manifest lists neither file
        change(version=1)(last)
    what = "its training.json or training.safetensors is" if version == 1 else rf"\S*{name}[ :]"
    with pytest.raises(InputError, match=rf"cannot resume from \S*/last: (cannot read )?{what}"):
        load_checkpoint(last, torch.device("cpu"))


def test_sentence_numbers_of_link_files_have_a_limit() -> None:
    with pytest.raises(ValueError, match="sentence 999,999,999, at most 10,000,000 are read"):
        parse_naacl(["1 1 1 S", "999999999 1 1 S"])
    assert len(parse_naacl(["1 1 1 S", "3000000 1 1 S"])) == 3_000_000
    with pytest.raises(ValueError, match="is not a link") as caught:
        parse_pharaoh("x" * 10_000_000)
    assert len(str(caught.value)) < 200
