"""CSV and TSV files with a header: quotes, names of columns, and invalid files."""

from pathlib import Path

import pytest

from regard.data.corpora import read_csv, read_tsv
from regard.data.splits import load_split
from regard.text.input_error import InputError
from regard.training.recipe import load_recipe

QUOTED = (
    '\ufeffid,fr,en\r\n1,"Un, deux","One, two"\r\n2,"Il a dit ""oui"".","He said ""yes""."\r\n'
    '3,"a\nb","c\nd"\r\n4,,x\r\n'
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_quotes_commas_line_breaks_and_names_of_columns(tmp_path: Path) -> None:
    path, skipped = write(tmp_path / "a.csv", QUOTED), list[int]()
    pairs = [(pair.source, pair.target) for pair in read_csv(path, ["en", "fr"], skipped)]
    assert pairs == [("One, two", "Un, deux"), ('He said "yes".', 'Il a dit "oui".'), ("c\nd", "a\nb")]
    assert skipped == [7]
    assert [pair.source for pair in read_csv(path, [3, 2])] == [source for source, _ in pairs]


def test_two_columns_need_no_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "en;fr\none;un\n")
    (pair,) = read_csv(path, delimiter=";")
    assert (pair.source, pair.target) == ("one", "un")
    assert len(list(read_csv(path, delimiter=";", header=False))) == 2


def test_tsv_with_a_header(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'fr\ten\tnote\nun\t"one"\tx\n')
    (pair,) = read_tsv(path, ["en", "fr"], header=True)
    assert (pair.source, pair.target) == ('"one"', "un")  # TSV has no quotes: they are text


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("en,fr,x\na,b,c\n", None, "line 2: 3 values, expected 2; name two columns"),
        ("en;fr\na;b\n", None, "line 2: no delimiter; expected two values, or set delimiter"),
        ("en,fr,x\na,b,c\n", ["en", "de"], "no column 'de' in the header: "),
        ("en,en,x\na,b,c\n", ["en", "x"], "the header names 2 columns 'en'"),
        ('en,fr\n"a,b\n', None, "line 2: not CSV"),
        ('en,fr\n"a"b,c\n', None, "line 2: not CSV"),
        ("en,fr,x\na,b\n", ["en", "x"], r"line 2: 2 columns, but columns = \['en', 'x'\] was requested"),
        ("en,fr\n", None, "holds no pair"),
        ("", None, "holds no pair"),
    ],
)
def test_invalid_csv_raises(tmp_path: Path, text: str, columns: list[str] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_csv(write(tmp_path / "a.csv", text), columns))


def recipe(tmp_path: Path, data: str) -> Path:
    text = f"[data]\n{data}\n[model]\n[train]\nsteps = 1\nbatch_sentences = 2\n"
    return write(tmp_path / "own.toml", text)


def test_a_recipe_reads_csv(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", QUOTED)
    data = 'kind = "csv"\ntrain = "a.csv"\ndev = "a.csv"\ntest = "a.csv"\ncolumns = ["en", "fr"]'
    found = load_split(load_recipe(recipe(tmp_path, data)).data, "train")
    assert found.pairs[0].target == "Un, deux"
    assert found.notes == ("a.csv: 1 line left out, a side is blank (first: line 7)",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('kind = "tsv"\ntrain = "a"\ncolumns = ["en", "fr"]', "are names, but header = false: set header = true"),
        ('kind = "csv"\ntrain = "a"\nheader = false\ncolumns = ["en", "fr"]', "are names, but header = false"),
        ('kind = "csv"\ntrain = "a"\ndelimiter = "\\""', "cannot separate values"),
        ('kind = "csv"\ntrain = "a"\ndelimiter = ",,"', "data.delimiter"),
    ],
)
def test_impossible_tables(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_recipe(recipe(tmp_path, data))
