"""The doctor looks at machines, recipes, data and bundles, and finds what is wrong with them."""

import shutil
from pathlib import Path

import pytest

from regard.lab.doctor import examine


def said(path: Path | None) -> str:
    return "\n".join(f"{finding.mark} {finding.text}" for finding in examine(path))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_machine() -> None:
    report = said(None)
    for name in ("✓ Python 3", "✓ regard ", "✓ torch ", "cores; torch uses", "GB free in"):
        assert name in report
    assert not any(finding.bad for finding in examine(None))


def test_a_bundle_and_a_run_folder(run_folder: Path) -> None:
    for path in (run_folder, run_folder / "best"):
        report = said(path)
        assert "✓ model: GRU, 1 × 32 bidirectional encoder, 1 × 32 decoder, additive attention" in report
        assert "✓ every file matches its checksum" in report
        assert "✓ source: word pieces, vocabulary 13" in report


def test_a_damaged_bundle(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(run_folder / "best", folder)
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    (finding,) = examine(folder)
    assert finding.bad
    assert "is damaged (its checksum is not the manifest's)" in finding.text


def test_a_published_recipe_by_its_name() -> None:
    report = said(Path("reverse"))
    assert "✓ a valid recipe: Reverse a sequence of numbers" in report
    assert "✓ test: 1,000 pairs, none of their sources in training" in report
    assert "✓ vocabulary 51 → 51" in report
    assert "parameters" in report


def test_a_recipe_of_ones_own_with_its_data(tmp_path: Path) -> None:
    lines = [f"{i} a\tA {i}\n" for i in range(60)]
    write(tmp_path / "train.tsv", "".join([*lines, "0 a\tA 0\n"]))
    write(tmp_path / "test.tsv", "0 a\tA 0\n77 a\tA 77\n")
    recipe = write(
        tmp_path / "own.toml",
        '[data]\nkind = "tsv"\ntrain = "train.tsv"\ntest = "test.tsv"\n[model]\npreset = "luong"\nsize = "tiny"\n'
        "[train]\nsteps = 3\nbatch_sentences = 4\n",
    )
    report = said(recipe)
    assert "✓ model: LSTM" in report
    assert "! pairs that were there before (remove them, or they count twice): 1, first '0 a' → 'A 0'" in report
    assert "! test: 1 of 2 sources are in training too: scores will flatter" in report


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[data]\nkind = 'copy'\n[model]\n[train]\nsteps = 3\nbatch_sentence = 4\n", "did you mean 'batch_sentences'?"),
        ("[data]\nkind = 'tsv'\ntrain = 'gone.tsv'\n[model]\n[train]\nsteps = 3\nbatch_sentences = 4\n", "gone.tsv"),
        ("[data\n", "is not valid TOML"),
    ],
    ids=["unknown key", "missing data", "no TOML"],
)
def test_a_recipe_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    (finding,) = examine(write(tmp_path / "bad.toml", text))
    assert finding.bad
    assert message in finding.text


def test_oddities_of_a_data_file_come_with_their_lines(tmp_path: Path) -> None:
    lines = [
        "a b\tc d", "a b\tc d", "a b\te f", "\tx", "same\tsame", "Ã© &amp;\tb", "short\t" + "long " * 14,
        "x " * 120 + "\t" + "y " * 120,
    ]  # fmt: skip
    report = said(write(tmp_path / "d.tsv", "\n".join(lines) + "\n"))
    assert "✓ 7 pairs" in report
    for odd, line in (
        ("pairs that were there before", 2),
        ("sources with another target than before", 3),
        ("targets equal to their source", 5),
        ("lengths that differ by more than three to one", 7),
        ("sides of more than 100 words", 8),
        ("broken characters or HTML entities", 6),
    ):
        (found,) = [one for one in report.splitlines() if odd in one]
        assert found.startswith("! ")
        assert f": 1, first line {line}, " in found
    assert "! lines left out because a side is blank: 1, first line 4" in report


def test_files_of_other_shapes(tmp_path: Path) -> None:
    assert "one side of a parallel corpus?" in said(write(tmp_path / "one.en", "a b\n\nc\n"))
    assert "blank lines, whose pairs are left out: 1, first line 2" in said(tmp_path / "one.en")
    assert "3 columns: the first two were read; in a recipe say columns = [1, 2]" in said(
        write(tmp_path / "three.tsv", "a\tb\tc\n")
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.tsv", b"", "is empty: wanted lines of source TAB target"),
        ("binary.tsv", b"a\tb\n\xff\xfe\x00", "line 2: byte 4 of the file (0xff) is not UTF-8"),
        ("ragged.tsv", b"a\tb\nc\n", "line 2: no tab"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    (finding,) = examine(tmp_path / name)
    assert finding.bad
    assert message in finding.text


def test_what_is_not_there(tmp_path: Path) -> None:
    assert "no file or folder" in said(tmp_path / "nothing")
    assert "no recipe 'revers'" in said(Path("revers"))
    assert "no bundle at" in said(tmp_path)
    assert "is neither a file nor a folder" in said(Path("/dev/null"))
