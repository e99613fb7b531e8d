"""`regard doctor` on tables that are not plain source TAB target, on invisible text and on broken weights (item 14)."""

import subprocess
import tomllib
from pathlib import Path

import pytest
import torch
from pydantic import TypeAdapter

import regard
from regard.bundle import save_bundle
from regard.data.splits import load_split
from regard.data.tables import DataConfig
from regard.lab.examine import examine
from regard.lab.finding import Finding

WORDS = ["a cat\tun chat", "the big dog\tle gros chien", "a bird sings, loudly\tun oiseau chante, fort"]


def found(folder: Path, text: str, name: str = "pairs.tsv") -> list[Finding]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return examine(path)


def odd(folder: Path, text: str, name: str = "pairs.tsv") -> Finding:
    (one,) = (finding for finding in found(folder, text, name) if finding.mark in "!✗")
    return one


def test_valid_tables_and_prose_with_commas_have_no_findings(tmp_path: Path) -> None:
    assert {one.mark for one in found(tmp_path, "\n".join(WORDS))} == {"✓"}
    prose = "Well, he came.\nYes, she said.\nNo, I did not.\n"
    assert {one.mark for one in found(tmp_path, prose, "train.en")} == {"✓"}


@pytest.mark.parametrize(
    ("text", "name", "keys"),
    [
        ("a cat,un chat\nthe dog,le chien\n", "pairs.csv", 'kind = "csv", header = false'),
        ('"a cat","un chat"\n"the dog, too","le chien, aussi"\n"x","y"\n', "pairs.tsv", 'kind = "csv", header = false'),
        ("source;target\na cat;un chat\nthe dog;le chien\n", "pairs.txt", 'kind = "csv", delimiter = ";"'),
        ("id,en,fr\n1,a cat,un chat\n2,the dog,le chien\n", "pairs.csv", 'kind = "csv", columns = [2, 3]'),
    ],
)
def test_csv_is_an_error_whose_remedies_work(text: str, name: str, keys: str, tmp_path: Path) -> None:
    finding = odd(tmp_path, text, name)
    assert finding.bad
    assert finding.text.startswith(f"{name} is CSV, fields separated by '{';' if ';' in text else ','}'")
    recipe, _, command = finding.remedy.partition("; or convert it: ")
    assert recipe == f"in a recipe, set {keys}"
    table = {**tomllib.loads(keys.replace(", ", "\n").replace("2\n3", "2, 3")), "train": name, "base": tmp_path}
    pairs = load_split(TypeAdapter(DataConfig).validate_python({**table, "dev": name, "test": name}), "train").pairs
    assert (pairs[0].source, pairs[0].target) == ("a cat", "un chat")
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, timeout=60)
    written = (tmp_path / "plain.tsv").read_text(encoding="utf-8").splitlines()
    assert "a cat\tun chat" in written
    assert not any(one.bad for one in examine(tmp_path / "plain.tsv"))


@pytest.mark.parametrize("text", ["a,b\rc\nd,e\n", "word " * 40_000 + ", more\nx, y\n"], ids=["return", "long"])
def test_what_no_csv_reader_takes_is_examined_as_text(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, text, "train.en")


def test_a_folder_of_csv_files_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("a cat,un chat\nthe dog,le chien\n", encoding="utf-8")
    (tmp_path / "test.csv").write_text("a,b\n", encoding="utf-8")
    text = [one.text for one in examine(tmp_path) if one.bad]
    assert [one.partition(" is CSV")[0] for one in text] == ["train.csv", "test.csv"]


def test_a_header_row(tmp_path: Path) -> None:
    for header in ("source\ttarget", "English\tFrench", '"en"\t"fr"'):
        finding = odd(tmp_path, "\n".join([header, *WORDS]))
        assert finding.text == "the first line looks like a header, and would be trained as a pair"
        assert (
            finding.remedy == "in a recipe, set header = true; or remove it: tail -n +2 pairs.tsv > without-header.tsv"
        )


def test_quoted_fields(tmp_path: Path) -> None:
    finding = odd(tmp_path, '"a cat"\t"un chat"\n"the dog"\t"le chien"\nx y\tz w\n')
    assert finding.text == "quoted fields, whose quotes are read as part of the text: 2 of 3 lines"
    assert "csv.reader(sys.stdin, delimiter='\\t')" in finding.remedy


def test_text_in_other_columns(tmp_path: Path) -> None:
    lines = [f"{number}\ten\t{pair}" for number, pair in enumerate(WORDS)]
    report = found(tmp_path, "\n".join(lines))
    (finding,) = (one for one in report if one.mark == "!")
    assert finding.text == "4 columns: 3 and 4 were read, the first two that hold text"
    assert finding.remedy == "in a recipe, set columns = [3, 4]"
    assert any(one.text.startswith("target: Latin script") for one in report)
    scores = "\n".join(f"{pair.split(chr(9))[0]}\t0.{number}" for number, pair in enumerate(WORDS))
    assert any(
        one.text.startswith("column 2 holds numbers") and "a score?" in one.remedy for one in found(tmp_path, scores)
    )


def test_text_of_invisible_characters_alone(tmp_path: Path) -> None:
    report = found(tmp_path, "\n".join([*WORDS, "\u200b\u2060\tun mot", "a word\t\ufeff\u200d"]))
    (finding,) = (one for one in report if one.text.startswith("sides of invisible characters alone: 2"))
    assert finding.mark == "!"
    assert finding.remedy.startswith("training leaves them out")


@pytest.mark.parametrize("everything", [True, False])
def test_nan_weights(everything: bool, reverser: regard.Translator, tmp_path: Path) -> None:
    bundle = regard.load(reverser.bundle.path).bundle
    with torch.no_grad():
        for parameter in bundle.model.parameters():
            parameter.fill_(float("nan")) if everything else parameter.view(-1)[:1].fill_(float("inf"))
    save_bundle(tmp_path / "broken", bundle.model, bundle.source, bundle.target, source_eos=False, longest_source=9)
    findings = examine(tmp_path / "broken")
    (finding,) = (one for one in findings if one.bad)
    total = f"{bundle.model.parameters_count:,}"
    assert finding.text.endswith(f"of {total} weights are NaN or infinite: this model cannot translate")
    assert finding.text.startswith(total) == everything
    assert "lower train.learning_rate" in finding.remedy
