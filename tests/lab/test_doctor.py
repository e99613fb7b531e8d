"""The doctor checks machines, recipes, data and bundles, and reports their problems."""

import gzip
import shutil
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from regard.lab.examine import examine


def report_of(path: Path | None) -> str:
    return "\n".join(line for finding in examine(path) for line in finding.lines())


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_machine() -> None:
    report = report_of(None)
    for name in ("✓ Python 3", "✓ regard ", "✓ torch ", "cores; torch uses ", "GB free in"):
        assert name in report
    assert not any(finding.bad for finding in examine(None))


def test_a_bundle_and_a_run_folder(run_folder: Path) -> None:
    for path in (run_folder, run_folder / "best"):
        report = report_of(path)
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


@pytest.mark.parametrize("name", ["training.json", "training.safetensors", "model.safetensors"])
def test_a_damaged_checkpoint_beside_a_good_model_is_found(name: str, run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(run_folder, folder)
    path = folder / "last" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    for place in (folder, folder / "last"):
        (finding,) = examine(place)
        assert finding.bad
        assert f"{path} is damaged (its checksum is not the manifest's)" in finding.text
    assert not any(finding.bad for finding in examine(folder / "best"))


def test_a_missing_checkpoint_of_an_unfinished_run_is_found(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(run_folder, folder)
    shutil.rmtree(folder / "last")
    assert not any(finding.mark == "!" for finding in examine(folder))  # finished: nothing to continue
    journal = folder / "journal.jsonl"
    kept = [line for line in journal.read_text(encoding="utf-8").splitlines() if '"finished"' not in line]
    journal.write_text("\n".join(kept) + "\n", encoding="utf-8")
    (finding,) = (one for one in examine(folder) if one.mark == "!")
    assert finding.text == "the checkpoint last/ is missing: this run cannot be resumed"
    assert finding.remedy == f"start a new run with these weights: --out NEW --set train.start_from={folder}"


def test_a_published_recipe_by_its_name() -> None:
    report = report_of(Path("reverse"))
    assert "✓ a valid recipe: Reverse a sequence of numbers" in report
    assert "✓ test: 1,000 pairs, none of their sources in training" in report
    assert "✓ vocabulary 104 → 104" in report
    assert "parameters" in report


def test_a_users_recipe_with_its_data(tmp_path: Path) -> None:
    lines = [f"{i} a\tA {i}\n" for i in range(60)]
    write(tmp_path / "train.tsv", "".join([*lines, "0 a\tA 0\n"]))
    write(tmp_path / "test.tsv", "0 a\tA 0\n77 a\tA 77\n")
    recipe = write(
        tmp_path / "own.toml",
        '[data]\nkind = "tsv"\ntrain = "train.tsv"\ntest = "test.tsv"\n[model]\npreset = "luong"\nsize = "tiny"\n'
        "[train]\nsteps = 3\nbatch_sentences = 4\n",
    )
    report = report_of(recipe)
    assert "✓ model: LSTM" in report
    assert "! duplicate pairs: 1 (1.7%)\n    pair 58: '0 a' → 'A 0'\n    → they count twice" in report
    assert "! test: 1 of 2 sources are in training too, but for case and punctuation\n    '0 a' → 'A 0'" in report
    assert "· test: 25.0% of its source words never occur in training" in report


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


def test_the_share_of_unknown_words_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "train.tsv", "a b\tc d\n" * 5)
    write(tmp_path / "dev.tsv", "a x\tc y\n")
    recipe = write(
        tmp_path / "own.toml",
        '[data]\nkind = "tsv"\ntrain = "train.tsv"\ndev = "dev.tsv"\ntest = "dev.tsv"\n[model]\npreset = "luong"\n'
        'size = "tiny"\n[train]\nsteps = 3\nbatch_sentences = 4\n',
    )
    assert "! dev: 50.00% of the source is unknown to it\n! dev: 50.00% of the target is unknown to it" in report_of(
        recipe
    )


def test_problems_of_a_data_file_have_line_numbers(tmp_path: Path) -> None:
    lines = ["a b\tc d", "a b\tc d", "\tx", "same\tSame", "Ã© &amp;\tb"]
    report = report_of(write(tmp_path / "d.tsv", "\n".join(lines) + "\n"))
    assert "✓ 4 pairs" in report
    for odd, line in (
        ("! duplicate pairs", 2),
        ("! targets that are their source", 4),
        ("! broken characters or HTML entities", 5),
    ):
        assert f"{odd}: 1 (25.0%)\n    line {line}: " in report
    assert "! lines left out because a side is blank: 1\n    line 3\n    → nothing" in report


def test_files_of_other_shapes(tmp_path: Path) -> None:
    side = report_of(write(tmp_path / "one.en", "a b\n\nc &amp;\n"))
    assert "one side of a parallel corpus?\n    → regard doctor" in side
    assert "! blank lines, whose pairs are left out: 1\n    line 2" in side
    assert "! broken characters or HTML entities: 1\n    line 3: 'c &amp;'" in side
    assert "3 columns: 1 and 2 were read" in report_of(write(tmp_path / "three.tsv", "a\tb\tc\n"))
    records = report_of(write(tmp_path / "r.jsonl", '{"id": 1, "translation": {"en": "a", "fr": "b"}}\n'))
    assert 'taken from the fields "translation.en" and "translation.fr"; name them in a recipe' in records
    assert "r2.jsonl: which fields are source and target? There are a, b, c" in report_of(
        write(tmp_path / "r2.jsonl", '{"a": "1", "b": "2", "c": "3"}\n')
    )


def test_parquet_and_packed_records(tmp_path: Path) -> None:
    table = pyarrow.Table.from_pylist([{"id": i, "en": f"a {i}", "fr": f"b {i}"} for i in range(3)])
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for name in ("t.parquet", "t.jsonl.gz"):
        if name.endswith(".gz"):
            lines = "".join(f'{{"en": "a {i}", "fr": "b {i}"}}\n' for i in range(3))
            (tmp_path / name).write_bytes(gzip.compress(lines.encode()))
        report = report_of(tmp_path / name)
        assert "✓ 3 pairs" in report
        assert 'taken from the fields "en" and "fr"' in report


def test_two_files_whose_lines_belong_together(tmp_path: Path) -> None:
    one, other = write(tmp_path / "t.en", "a b\nc\n"), write(tmp_path / "t.fr", "d e\n\n")
    report = "\n".join(line for finding in examine(one, other) for line in finding.lines())
    assert "✓ 1 pair\n" in report
    assert "a side is blank: 1\n    line 2" in report
    (finding,) = examine(one, write(tmp_path / "t.de", "x\n"))
    assert finding.bad
    assert "unequal line counts" in finding.text


def test_a_folder_of_data(tmp_path: Path) -> None:
    for name, text in (("train.en", "a b\nc d\n"), ("train.fr", "A B\nC D\n"), ("test.en", "C, d!\nx\n")):
        write(tmp_path / name, text)
    write(tmp_path / "test.fr", "C D\nX\n")
    write(tmp_path / "README", "hello")
    report = report_of(tmp_path)
    assert "✓ train: train.en and train.fr\n✓ 2 pairs" in report
    assert "! test: 1 of 2 sources are in training too, but for case and punctuation\n    'C, d!' → 'C D'" in report
    (tmp_path / "tables").mkdir()
    write(tmp_path / "tables" / "all.tsv", "a\tb\n")
    assert "✓ all: all.tsv\n✓ 1 pair" in report_of(tmp_path / "tables")


def test_a_corpus_of_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert "✗ the corpus multi30k is not here: `regard data get multi30k` fetches it" in report_of(Path("multi30k"))
    folder = tmp_path / "multi30k"
    folder.mkdir()
    for split in ("train", "val", "test_2016_flickr"):
        write(folder / f"{split}.en", f"hello {split}\n")
        write(folder / f"{split}.de", f"hallo {split}\n")
    report = report_of(Path("multi30k"))
    assert f"✓ multi30k in {folder}: en → de; licence: non-commercial research and education only" in report
    assert "✓ test: 1 pair, its source not in training" in report
    assert "1 different word, 1 of them" not in report
    assert "fr" not in report.split()
    assert "test_2017" not in report
    for split in ("train", "val", "test_2016_flickr", "test_2017_flickr"):  # every direction, every other test set
        write(folder / f"{split}.fr", "salut\n" if split == "train" else f"salut {split}\n")
    write(folder / "test_2017_flickr.en", "Hello train!\n")
    report = report_of(Path("multi30k"))
    german, french = report.split(": en → fr; licence")
    assert "test_2017" not in german
    assert "target: Latin script; 1.0 words on average" in french
    assert "1 different word, 1 of them only once" in french
    assert "! test_2017_flickr: 1 of 1 sources are in training too" in french


def test_a_recipe_comes_before_the_corpus_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    missing = report_of(Path("tatoeba-en-fr"))
    assert missing.startswith("✗ the corpus tatoeba-en-fr is not here: `regard data get tatoeba-en-fr --from DIR`")
    (tmp_path / "tatoeba-en-fr").mkdir()
    for split in ("train", "dev", "test"):
        write(tmp_path / "tatoeba-en-fr" / f"{split}.tsv", f"hello {split}\tsalut {split}\n")
    report = report_of(Path("tatoeba-en-fr"))
    assert "✓ a valid recipe: Everyday sentences, English to French" in report
    assert "✓ test: 1 pair, its source not in training" in report


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.tsv", b"", "is empty: expected lines of source TAB target"),
        ("binary.tsv", b"a\tb\n\xff\xfe\x00", "line 2: byte 4 of the file (0xff) is not UTF-8"),
        ("ragged.tsv", b"a\tb\nc\n", "line 2: no tab"),
        ("empty.jsonl", b"", "is empty: expected records with a source and a target"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    (finding,) = examine(tmp_path / name)
    assert finding.bad
    assert message in finding.text


def test_a_missing_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"no file or folder {tmp_path / 'nothing'}" in report_of(tmp_path / "nothing")
    assert "no file, folder, corpus, recipe or model 'revers': did you mean 'reverse'?" in report_of(Path("revers"))
    assert "no file, folder, corpus, recipe or model 'multi30': did you mean 'multi30k'?" in report_of(Path("multi30"))
    assert "no bundle and no corpus in" in report_of(tmp_path)
    assert "is neither a file nor a folder" in report_of(Path("/dev/null"))
    write(tmp_path / "pairs.tsv", "a\tb\n")
    monkeypatch.chdir(tmp_path)
    assert "no file or folder pairs.tvs: did you mean 'pairs.tsv'?" in report_of(Path("pairs.tvs"))
