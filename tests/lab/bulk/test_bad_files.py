"""Bad rows and bad files of a folder are listed with the reason; everything else is translated."""

import gzip
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regard.cli.main import run
from regard.lab.bulk.run_bulk import Bulk, translate_bulk
from regard.text.input_error import InputError


def job(tmp_path: Path, **files: bytes) -> Bulk:
    """A request for a folder of these files; an underscore in a name stands for the dot."""
    (tmp_path / "in").mkdir()
    for name, content in files.items():
        (tmp_path / "in" / name.replace("_", ".")).write_bytes(content)
    return Bulk("demo-en-fr", str(tmp_path / "in"), str(tmp_path / "out"))


def listed(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_row_that_is_not_utf8_is_listed_and_the_others_are_translated(tmp_path: Path) -> None:
    bulk = job(
        tmp_path,
        a_txt=b"she sleeps\n\xff\xfe bad\nhe sleeps\n",
        b_tsv=b"she sleeps\t1\nbad \xe9t\xe9\t2\n",
        c_jsonl=b'{"text": "she sleeps"}\n{"text": "\xff"}\n{"text": "\\ud800"}\n',
    )
    done = translate_bulk(bulk)
    assert (done.rows, done.bad, done.refused) == (8, 4, {})
    out = tmp_path / "out"
    text = (out / "a.txt" / "part-00000.txt").read_text(encoding="utf-8").split("\n")
    assert [bool(line) for line in text] == [True, False, True, False]
    (complaint,) = listed(out / "a.txt" / "part-00000.bad.jsonl")
    assert (complaint["row"], complaint["value"]) == (2, repr("\udcff\udcfe bad"))
    assert str(complaint["error"]).startswith("not valid Unicode")
    assert (out / "b.tsv" / "part-00000.tsv").read_bytes().splitlines()[1] == b"bad \xe9t\xe9\t2\t"
    assert [row["text"] for row in listed(out / "c.jsonl" / "part-00000.jsonl")][1:] == ["\udcff", "\ud800"]


def test_json_lines_without_a_text_are_listed_with_their_reason(tmp_path: Path) -> None:
    """In chunks where some row has the field, and where none has."""
    bad = b'{"text": "she\n{"other": 1}\n{"text": null}\n[1]\n\n'
    bulk = job(tmp_path, a_jsonl=b'{"text": "she sleeps"}\n' + bad)
    assert translate_bulk(replace(bulk, rows=2)).bad == 5
    sides = sorted((tmp_path / "out" / "a.jsonl").glob("*.bad.jsonl"))
    broken = "not a JSON object"
    assert [one["error"] for side in sides for one in listed(side)] == [
        broken, "no field 'text'", "nothing, expected text", broken, broken,
    ]  # fmt: skip


def test_texts_longer_than_the_model_reads_are_listed_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = b"she sleeps " * 600
    bulk = job(
        tmp_path,
        a_txt=b"she sleeps\n" + long + b"\n\xff\n",
        b_tsv=b"1\t" + long + b"\n",
        c_jsonl=json.dumps({"2": long.decode()}).encode() + b"\n",
    )
    command = ["translate", bulk.bundle, "--engine", "local", "--column", "2", "--input", bulk.inputs]
    for _ in range(2):
        assert run([*command, "--output", bulk.output]) == 0
        shown = " ".join(capsys.readouterr().err.split())
        assert "3 rows were cut (text longer than the model reads, or translation without an end): part-*.bad" in shown
        assert "1 row has no translation" in shown
        record = json.loads((tmp_path / "out" / "bulk.json").read_text(encoding="utf-8"))
        assert (record["bad"], record["cut"]) == (1, 3)
    assert "all parts of 3 files were finished before" in shown
    cut, bad = listed(tmp_path / "out" / "a.txt" / "part-00000.bad.jsonl")
    assert (cut["row"], str(cut["warning"])[:21], "error" in cut) == (2, "too long: only the fi", False)
    assert (bad["row"], "warning" in bad) == (3, False)
    (tmp_path / "out" / "b.tsv" / "part-00000.tsv").unlink()
    again = translate_bulk(replace(bulk, column="2"))
    assert (again.rows, again.bad, again.cut) == (1, 1, 3)


def test_one_cut_row_is_reported_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bulk = job(tmp_path, a_txt=b"she sleeps " * 600)
    assert run(["translate", bulk.bundle, "--engine", "local", "--input", bulk.inputs, "--output", bulk.output]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "1 row was cut (text longer than the model reads, or translation without an end)" in shown


def test_translations_cut_before_their_end_are_listed_and_counted(tmp_path: Path) -> None:
    bulk = job(tmp_path, a_txt=b"she sleeps\n" + b"cat " * 20 + b"\n")
    done = translate_bulk(bulk)
    assert (done.rows, done.bad, done.cut) == (2, 0, 1)
    (complaint,) = listed(tmp_path / "out" / "a.txt" / "part-00000.bad.jsonl")
    assert complaint["row"] == 2
    assert str(complaint["warning"]).startswith("the translation was cut after ")


def test_a_damaged_file_is_listed_and_can_be_replaced(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    packed = gzip.compress(b"she sleeps\n" * 3000)
    bulk = job(tmp_path, a_parquet=b"PAR1 nothing", b_txt=b"she sleeps\n", c_txt_gz=packed[:-20])
    done = translate_bulk(bulk)
    assert (done.files, done.parts, done.rows) == (3, 2, 1)
    assert [Path(name).name for name in done.refused] == ["a.parquet", "c.txt.gz"]
    complaints = listed(tmp_path / "out" / "bulk.bad.jsonl")
    assert [Path(str(one["file"])).name for one in complaints] == ["a.parquet", "c.txt.gz"]
    assert "cannot be read as Parquet" in str(complaints[0]["error"])
    assert "is damaged after line" in str(complaints[1]["error"])
    (tmp_path / "in" / "a.parquet").unlink()
    (tmp_path / "in" / "c.txt.gz").write_bytes(packed)
    again = translate_bulk(bulk)
    assert (again.finished_before, again.rows, again.refused) == (1, 3000, {})
    assert not (tmp_path / "out" / "bulk.bad.jsonl").exists()


def test_files_that_are_not_lines_of_text_and_missing_columns_are_listed(tmp_path: Path) -> None:
    bulk = job(
        tmp_path,
        a_jsonl=b'{"text": "she sleeps"}\n',
        b_tsv=b"7\tshe sleeps\n",
        c_csv=b"text\nshe sleeps\n",
        d_pdf=b"%PDF-1.4\n",
        e_bin=bytes(range(256)) * 4,
        f_en=b"she sleeps\n",
        g_txt="she sleeps\n".encode("utf-16"),
    )
    done = translate_bulk(replace(bulk, column="text"))
    reasons = {Path(name).name: reason for name, reason in done.refused.items()}
    assert list(reasons) == ["b.tsv", "c.csv", "d.pdf", "e.bin", "g.txt"]
    assert "has no column 'text', it has '1', '2'" in reasons["b.tsv"]
    assert "expected lines of text, .tsv, .jsonl or .parquet" in reasons["c.csv"]
    assert "not a text file" in reasons["e.bin"]
    assert "UTF-16" in reasons["g.txt"]
    assert (done.rows, done.bad) == (2, 0)


def test_a_wrong_column_of_every_file_does_not_reserve_the_output(tmp_path: Path) -> None:
    bulk = job(tmp_path, a_tsv=b"1\tshe sleeps\n")
    with pytest.raises(InputError, match=r"a\.tsv has no column 'text'"):
        translate_bulk(replace(bulk, column="text"))
    assert translate_bulk(replace(bulk, column="2")).rows == 1


def test_tsv_takes_a_column_by_the_name_in_its_header(tmp_path: Path) -> None:
    bulk = job(
        tmp_path,
        a_jsonl=b'{"text": "she sleeps"}\n',
        b_tsv=b"\xef\xbb\xbfid\ttext\n7\tshe sleeps\textra\n8\n9\the sleeps\n",
        c_tsv=b"score\ttext\n1\tshe sleeps\n",
    )
    done = translate_bulk(replace(bulk, column="text", rows=2))
    assert (done.rows, done.bad, done.refused) == (5, 1, {})
    out = tmp_path / "out"
    lines = [line for part in sorted(out.glob("b.tsv/*.tsv")) for line in part.read_text("utf-8").splitlines()]
    spoken = json.loads((out / "a.jsonl" / "part-00000.jsonl").read_text("utf-8"))["translation"]
    assert lines[:3] == ["id\ttext\ttranslation", f"7\tshe sleeps\textra\t{spoken}", "8\t"]
    assert lines[3].startswith("9\the sleeps\t")
    assert [one["row"] for one in listed(out / "b.tsv" / "part-00001.bad.jsonl")] == [3]
    scored = (out / "c.tsv" / "part-00000.tsv").read_text("utf-8")
    assert scored == f"score\ttext\ttranslation\n1\tshe sleeps\t{spoken}\n", "TSV gets no column score"


def test_an_output_folder_that_holds_the_input_is_named(tmp_path: Path) -> None:
    bulk = job(tmp_path, a_txt=b"she sleeps\n")
    for inputs in (bulk.inputs, f"{bulk.inputs}/*.txt"):
        with pytest.raises(InputError, match=r"the output folder .* holds the input files: name another --output"):
            translate_bulk(replace(bulk, inputs=inputs, output=bulk.inputs))


def test_the_command_fails_after_it_translated_the_good_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bulk = job(tmp_path, a_txt=b"she sleeps\n\xff\n", b_csv=b"she sleeps\n")
    command = ["translate", bulk.bundle, "--engine", "local", "--input", bulk.inputs, "--output", bulk.output]
    assert run(command) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "2 rows of 1 file in" in shown
    assert "1 row has no translation" in shown
    assert "1 file was not translated completely" in shown
    assert "b.csv" in shown


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_file_names_that_are_not_utf8_are_listed(tmp_path: Path) -> None:
    bulk = job(tmp_path)
    for name in (b"\xff.csv", b"\xff.txt"):
        (tmp_path / "in" / os.fsdecode(name)).write_bytes(b"she sleeps\n\xff\n")
    done = translate_bulk(bulk)
    assert (done.rows, done.bad) == (2, 1)
    for place, name in (("bulk.bad.jsonl", "\udcff.csv"), ("\udcff.txt/part-00000.bad.jsonl", "\udcff.txt")):
        assert Path(str(listed(tmp_path / "out" / place)[0]["file"])).name == name


def test_outputs_of_earlier_runs_inside_the_input_are_not_read(tmp_path: Path) -> None:
    bulk = job(tmp_path, a_txt=b"she sleeps\n")
    other = tmp_path / "in" / "other"
    other.mkdir()
    (other / "bulk.json").write_bytes(b'{"text": "not a record of a run"}\n')
    (other / "b.txt").write_bytes(b"he sleeps\n")
    first = translate_bulk(replace(bulk, output=str(tmp_path / "in" / "first")))
    second = translate_bulk(replace(bulk, output=str(tmp_path / "in" / "second")))
    for done in (first, second):
        assert (done.files, done.rows, list(done.refused)) == (3, 2, [str(other / "bulk.json")])
    explicit = replace(bulk, inputs=str(tmp_path / "in" / "first" / "**" / "part-*.txt"))
    assert translate_bulk(explicit).rows == 2
