"""Files cut into parts: all parts together are the file, for any content."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.bulk import parts as parts_module
from regard.lab.bulk.parts import RowChunk, count_listed, plan_parts, read_part, write_part
from regard.runtime.row_worker import WRITTEN
from regard.text.input_error import InputError

LINES = st.lists(
    st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=("Cs",)), max_size=9), max_size=40
)


def fake(chunk: RowChunk, column: str) -> dict[str, np.ndarray]:
    """A worker without a model: adds the text in capitals; a text with an x is bad."""
    texts = chunk.texts(column)
    bad = ["no text" if not isinstance(text, str) or "x" in text else "" for text in texts]
    return {
        "text": texts,
        "translation": np.array(["" if why else text.upper() for text, why in zip(texts, bad, strict=True)], object),
        "score": np.array([np.nan if why else -1.0 for why in bad]),
        "alignment": np.array(["0-0"] * len(texts), object),
        "cut": np.zeros(len(texts), bool),
        "warning": np.array([""] * len(texts), object),
        "error": np.array(bad, object),
    }


def translate(file: Path, folder: Path, column: str, rows: int) -> tuple[int, int]:
    done = [
        write_part(part, ((chunk, fake(chunk, column)) for chunk in read_part(part)))
        for part in plan_parts(file, folder, rows)
    ]
    return sum(done), count_listed(folder)["bad"]


@given(lines=LINES, rows=st.integers(1, 7), newline=st.booleans(), block=st.integers(1, 50))
def test_the_parts_of_a_text_are_its_lines_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], rows: int, newline: bool, block: int
) -> None:
    folder = tmp_path_factory.mktemp("text")
    text = "\n".join(lines) + ("\n" if newline and lines else "")
    (folder / "in.txt").write_bytes(text.encode())
    wanted = text.split("\n")[: -1 if text.endswith("\n") else None] if text else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "BLOCK", block)
        parts = plan_parts(folder / "in.txt", folder / "out", rows)
    found = [[line for chunk in read_part(part) for line in chunk.lines] for part in parts]
    assert [line for part in found for line in part] == [line.removeprefix("\ufeff") if not i else line
                                                         for i, line in enumerate(wanted)]  # fmt: skip
    assert all(len(part) == rows for part in found[:-1])
    assert [part.first for part in parts] == [rows * number for number in range(len(parts))]


def test_json_lines_keep_their_fields_and_bad_rows_are_listed(tmp_path: Path) -> None:
    rows = [{"id": n, "text": f"line {n}", "": "kept"} for n in range(5)]
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + 'no json\n{"text": "x"}\n[1]\n', encoding="utf-8")
    assert translate(file, tmp_path / "out", "text", 3) == (8, 3)
    found = [
        json.loads(line)
        for part in sorted((tmp_path / "out").glob("part-0000?.jsonl"))
        for line in part.read_text(encoding="utf-8").splitlines()
    ]
    assert found[4] == rows[4] | {
        "translation": "LINE 4", "score": -1.0, "alignment": "0-0", "cut": False, "warning": "", "error": "",
    }  # fmt: skip
    assert (found[5]["line"], found[5]["score"], found[5]["error"]) == ("no json", None, "no text")
    listed = [
        json.loads(line)
        for part in sorted((tmp_path / "out").glob("*.bad.jsonl"))
        for line in part.read_text(encoding="utf-8").splitlines()
    ]
    assert [(one["row"], one["value"]) for one in listed] == [(6, "'no json'"), (7, '\'{"text": "x"}\''), (8, "'[1]'")]


def test_tsv_takes_a_column_by_its_number_and_compressed_files_are_one_part(tmp_path: Path) -> None:
    file = tmp_path / "in.tsv.gz"
    file.write_bytes(gzip.compress(b"1\tgood\n2\tbye\n3\n"))
    assert translate(file, tmp_path / "out", "2", 1) == (3, 1)
    assert (tmp_path / "out" / "part-00000.tsv").read_text() == "1\tgood\tGOOD\n2\tbye\tBYE\n3\t\n"


def test_parquet_is_cut_at_row_groups_and_keeps_its_types(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {"when": pyarrow.array([0, 1, None, 3], pyarrow.timestamp("ms")), "text": ["a", "b", None, "d"]}
    )
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=1)
    assert translate(tmp_path / "in.parquet", tmp_path / "out", "text", 3) == (4, 1)
    found = pyarrow.concat_tables(parquet.read_table(path) for path in sorted((tmp_path / "out").glob("*.parquet")))
    assert found.select(["when", "text"]).equals(table)
    assert found["translation"].to_pylist() == ["A", "B", "", "D"]
    assert found.schema.names == ["when", "text", *WRITTEN]
    (tmp_path / "in.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        plan_parts(tmp_path / "in.parquet", tmp_path)


def test_parquet_keeps_values_that_python_cannot_hold(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({
        "id": [7, 8, 9],
        "nanoseconds": pyarrow.array([1, None, 3], pyarrow.time64("ns")),
        "far": pyarrow.array([2**62, None, 0], pyarrow.timestamp("us")),
        "map": pyarrow.array([[("a", 1)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "kind": pyarrow.array(["b", "b", None]).dictionary_encode(),
        "text": pyarrow.array([b"a", b"\xffx", None]).view(pyarrow.string()),
        "old": pyarrow.array(["a", None, "c"], pyarrow.large_string()),
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "in.parquet")
    assert translate(tmp_path / "in.parquet", tmp_path / "out", "text", 9) == (3, 2)
    found = parquet.read_table(tmp_path / "out" / "part-00000.parquet")
    assert found.select(table.schema.names).equals(table)
    assert found["score"].to_pylist() == [-1.0, None, None]
    complaints = (tmp_path / "out" / "part-00000.bad.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(one)["value"] for one in complaints] == [repr("\udcffx"), "None"]


def test_parquet_without_text_in_the_column_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": [1, 2]}), tmp_path / "in.parquet")
    with pytest.raises(InputError, match="the column 'text' holds int64, expected text: name one with --column"):
        translate(tmp_path / "in.parquet", tmp_path / "out", "text", 9)
    twice = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 2, names=["text", "text"])
    parquet.write_table(twice, tmp_path / "in.parquet")
    with pytest.raises(InputError, match=r'in\.parquet has several columns "text": rename them'):
        translate(tmp_path / "in.parquet", tmp_path / "out", "text", 9)


def test_json_lines_are_copied_as_they_were_written(tmp_path: Path) -> None:
    lines = ['{"text":"a","n":1.10,"big":1e400,"n":12345678901234567890.5}', "{ }", '{"text": "\\u00e9"} ']
    (tmp_path / "in.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert translate(tmp_path / "in.jsonl", tmp_path / "out", "text", 9) == (3, 1)
    found = (tmp_path / "out" / "part-00000.jsonl").read_text(encoding="utf-8").splitlines()
    assert [one.startswith(line.rstrip()[:-1]) for one, line in zip(found, lines, strict=True)] == [True] * 3
    assert [json.loads(one)["translation"] for one in found] == ["A", "", "É"]
    assert json.loads(found[1]).keys() == {*WRITTEN}


def test_a_part_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n{"text": "b", "score": 1}\n', encoding="utf-8")
    with pytest.raises(InputError, match="already has a column 'score'"):
        translate(tmp_path / "in.jsonl", tmp_path / "out", "text", 5)
    assert list((tmp_path / "out").iterdir()) == []
