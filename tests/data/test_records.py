"""Records as pairs: JSON lines, Parquet and Hugging Face datasets give the same pairs and the same messages."""

import json
import sys
from pathlib import Path
from typing import Any

import datasets
import pyarrow
import pyarrow.parquet
import pytest

from processes import completed
from regard.bounds import MOST
from regard.data.pair import Pair
from regard.data.parquet_batches import _lengths
from regard.data.records import guess_fields, open_dataset, read_dataset, read_jsonl, read_parquet
from regard.data.splits import load_split, open_split
from regard.data.tables import HuggingFaceData
from regard.text.input_error import InputError

ROWS: list[dict[str, Any]] = [
    {"id": 1, "translation": {"en": "a cat", "fr": "un chat"}},
    {"id": 2, "translation": {"en": " ", "fr": "vide"}},
    {"id": 3, "translation": {"en": "l'eau", "fr": "水"}},
    {"id": 4, "translation": {"en": "null", "fr": None}},
]
WANTED = [Pair("a cat", "un chat"), Pair("l'eau", "水")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def jsonl(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def test_the_three_kinds_give_the_same_pairs(tmp_path: Path) -> None:
    table = pyarrow.Table.from_pylist(ROWS)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    datasets.Dataset(table).save_to_disk(tmp_path / "saved")
    (tmp_path / "hub").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "hub" / "train-00000-of-00001.parquet")
    names = "translation.en", "translation.fr"
    for read, given in (
        (read_jsonl, jsonl(tmp_path / "t.jsonl", ROWS)),
        (read_parquet, tmp_path / "t.parquet"),
        (read_dataset, open_dataset(str(tmp_path / "saved"), None, None, "train")),
        (read_dataset, open_dataset(str(tmp_path / "hub"), None, None, "train")),
    ):
        skipped: list[int] = []
        assert list(read(given, *names, skipped)) == WANTED  # type: ignore[operator]
        assert skipped == [2, 4]


def test_a_dataset_of_many_splits(tmp_path: Path) -> None:
    one = datasets.Dataset.from_list([{"source": "a", "target": "b"}])
    datasets.DatasetDict({"train": one, "validation": one}).save_to_disk(tmp_path / "saved")
    found = open_dataset(str(tmp_path / "saved"), None, None, "validation")
    assert list(read_dataset(found, "source", "target")) == [Pair("a", "b")]
    with pytest.raises(InputError, match=r'has no split "dev"; it has train, validation'):
        open_dataset(str(tmp_path / "saved"), None, None, "dev")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match=r'cannot open split "train" of the dataset ".*nothing"'):
        open_dataset(str(tmp_path / "nothing"), None, None, "train")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"t.jsonl, line 2 is not JSON \(.*\); expected one object a line"),
        ('["a", "b"]', r't.jsonl, line 2: a list, expected an object such as \{"source"'),
        ('{"sourc": "a", "target": "b"}', r"t.jsonl, record 2: no field \"source\": did you mean 'sourc'\?"),
        ('{"zzz": "a"}', r'no field "source": valid fields are zzz'),
        (
            '{"source": "a \\ud800", "target": "b"}',
            r'character 2 of the field "source" is half of a surrogate',
        ),
        ('{"source": 3, "target": "b"}', r'record 2: the field "source" is int, expected text'),
        ('{"source": {"en": "a"}, "target": "b"}', r"\"source\" is dict, expected text; did you mean 'source.en'\?"),
    ],
)
def test_wrong_records_are_refused_with_their_place(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"source": "a", "target": "b"}\n' + line + "\n", "utf-8")
    with pytest.raises(InputError, match=message):
        list(read_jsonl(path, "source", "target"))


def test_a_name_with_a_point_in_it(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "t.jsonl", [{"text.en": "a", "text.fr": "b"}])
    assert guess_fields(path) == ("text.en", "text.fr")
    assert list(read_jsonl(path, "text.en", "text.fr")) == [Pair("a", "b")]


def test_empty_and_damaged_parquet_files_raise(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t.jsonl holds no pair"):
        list(read_jsonl(jsonl(tmp_path / "t.jsonl", [{"source": "", "target": "b"}]), "source", "target"))
    (tmp_path / "t.parquet").write_text("not really")
    with pytest.raises(InputError, match=r"t.parquet cannot be read as Parquet: "):
        list(read_parquet(tmp_path / "t.parquet", "source", "target"))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"en": "a", "fr": "b"}]), tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r'n.parquet, record 1: no field "de": valid fields are en, fr'):
        list(read_parquet(tmp_path / "n.parquet", "en", "de"))


def test_texts_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    ends, letters = pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe")
    wrong = pyarrow.Array.from_buffers(pyarrow.string(), 1, [None, ends, letters])
    table = pyarrow.table({"source": wrong, "target": ["x"]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: a text is not UTF-8 \(.* 0xff in position 0"):
        list(read_parquet(tmp_path / "t.parquet", "source", "target"))
    with pytest.raises(InputError, match="the split None: a text is not UTF-8"):
        list(read_dataset(datasets.Dataset(table), "source", "target"))


def test_fields_are_guessed_from_a_blank_first_record(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"source": "a", "target": null}\n{"source": "a", "target": "b"}\n')
    assert guess_fields(tmp_path / "t.jsonl") == ("source", "target")
    (tmp_path / "t.jsonl").write_text('{"source": 1, "target": "b"}\n')
    with pytest.raises(InputError, match="which fields are source and target"):
        guess_fields(tmp_path / "t.jsonl")


def test_a_missing_extra_raises_with_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").write_text("x")
    for package in ("pyarrow", "datasets"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"t.parquet needs the package pyarrow.*: pip install 'regard\[data\]'"):
        list(read_parquet(tmp_path / "t.parquet", "source", "target"))
    with pytest.raises(InputError, match=r'the dataset "some/thing" needs the package datasets'):
        open_dataset("some/thing", None, None, "train")


def test_a_dataset_s_script_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    script = tmp_path / "corpus" / "corpus.py"
    script.parent.mkdir()
    script.write_text(f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n", encoding="utf-8")
    for name in (script.parent, script):
        with pytest.raises(InputError, match="cannot open split"):
            open_dataset(str(name), None, None, "train")
    assert not (tmp_path / "ran").exists()


def test_a_format_of_the_library_is_not_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library reads files of the current folder for such a name, before version 5 also with pickle."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text("source,target\na,b\n", encoding="utf-8")
    for name in ("csv", "pandas"):
        with pytest.raises(InputError, match=f'"{name}" is a file format of the package datasets, not a dataset'):
            open_dataset(name, None, None, "train")


def test_older_versions_of_datasets_get_trust_remote_code_false(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: dict[str, object] = {}
    monkeypatch.setattr(datasets, "load_dataset", lambda *given, **options: requested.update(options))
    open_dataset("somebody/corpus", None, None, "train")
    assert requested["trust_remote_code"] is False


def test_a_recipe_reads_a_dataset_in_a_folder(tmp_path: Path) -> None:
    rows = [{"en": f"w{i}", "fr": f"m{i}"} for i in range(40)]
    whole = datasets.Dataset.from_list(rows)
    datasets.DatasetDict({"train": whole, "validation": whole.select([0, 1])}).save_to_disk(tmp_path / "saved")
    table = {"kind": "huggingface", "name": "saved", "dev": "validation", "source": "en", "target": "fr"}
    config = HuggingFaceData.model_validate({**table, "base": tmp_path})
    assert len(load_split(config, "dev").pairs) == 2
    train, test = load_split(config, "train"), load_split(config, "test")
    assert len(train.pairs) + len(test.pairs) == 40
    assert train.notes == (
        "no test file: 2 of the 40 training pairs, chosen by their source text, are held out for test",
    )
    assert open_split(config, "train").key == open_split(config, "train").key != open_split(config, "dev").key


def test_a_cell_longer_than_a_line_may_be_is_refused(tmp_path: Path) -> None:
    table = pyarrow.Table.from_pylist([{"source": "a", "target": "b" * (MOST["line"] + 1)}])
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", compression="gzip")
    with pytest.raises(InputError, match=r't.parquet: a text of the column "target" has 16,777,217 bytes, at most'):
        list(read_parquet(tmp_path / "t.parquet", "source", "target"))


def repeated(path: Path, text: str, rows: int) -> Path:
    """A small file in which one text is repeated: Parquet stores it once. NAME.nested.parquet has it in a struct."""
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), [text])
    flat = {"source": texts, "target": texts}
    nested = {"t": pyarrow.StructArray.from_arrays([texts, texts], ["source", "target"])}
    for place, columns in ((path, flat), (path.with_suffix(".nested.parquet"), nested)):
        pyarrow.parquet.write_table(
            pyarrow.table(columns), place, compression="zstd", store_schema=False, write_statistics=False
        )
        assert place.stat().st_size < 10_000
    return path


@pytest.mark.parametrize("kind", ["text", "list"])
def test_a_reference_outside_a_parquet_dictionary_is_refused(kind: str) -> None:
    broken = pyarrow.DictionaryArray.from_arrays([0, 1, 200], ["a", "b"], safe=False)
    column = broken if kind == "text" else pyarrow.ListArray.from_arrays([0, 1, 3], broken)
    with pytest.raises(pyarrow.ArrowInvalid, match="a reference to a repeated value is out of range"):
        list(_lengths(column))


@pytest.mark.parametrize("nested", [False, True])
def test_a_parquet_bomb_is_read_with_little_memory(nested: bool, tmp_path: Path) -> None:
    letters, fields = 8 << 20, ("t.source", "t.target") if nested else ("source", "target")
    path = repeated(tmp_path / "bomb.parquet", "a" * letters, 4096)
    path = path.with_suffix(".nested.parquet") if nested else path
    script = f"""
import resource
from itertools import islice
from pathlib import Path
from regard.data.records import guess_fields, read_parquet
import pyarrow.parquet
resource.setrlimit(resource.RLIMIT_AS, (5 << 30, 5 << 30))
path = Path({str(path)!r})
assert guess_fields(path) == {fields}
assert [len(pair.source) for pair in islice(read_parquet(path, *{fields}), 20)] == [{letters}] * 20
"""
    done = completed([sys.executable, "-c", script], seconds=120)
    assert done.returncode == 0, done.stderr


def test_a_cell_and_a_column_have_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repeated(tmp_path / "t.parquet", "b" * 2000, 3)
    assert len(list(read_parquet(path, "source", "target"))) == 3
    monkeypatch.setitem(MOST, "line", 1000)
    with pytest.raises(InputError, match=r't.parquet: a text of the column "source" has 2,000 bytes, at most 1,000'):
        list(read_parquet(path, "source", "target"))
    monkeypatch.setitem(MOST, "column", 1000)
    with pytest.raises(
        InputError, match=r"of a row group has [26],0.. bytes, at most 1,000 are read: write smaller row"
    ):
        list(read_parquet(path, "source", "target"))
