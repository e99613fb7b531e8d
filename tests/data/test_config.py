"""The tables [data] and [text]: valid settings, the data they load, and invalid ones."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.data.synthetic import synthetic
from regard.data.tables import DataConfig, TextConfig
from regard.text.input_error import InputError
from regard.text.near_duplicates import bare
from regard.text.normalise import Normaliser
from regard.text.tokenizer_config import TokenizerConfig

DATA: TypeAdapter[Any] = TypeAdapter(DataConfig)
SPLITS = ("train", "dev", "test")


def data(**table: object) -> Any:
    return DATA.validate_python(table)


def sources(config: Any) -> dict[str, list[str]]:
    return {split: [pair.source for pair in load_split(config, split).pairs] for split in SPLITS}


def test_a_synthetic_task_has_the_configured_sizes() -> None:
    config = data(kind="reverse", vocabulary=20, shortest=2, longest=5, train=30, dev=10, test=20, seed=3)
    assert {split: len(found) for split, found in sources(config).items()} == {"train": 30, "dev": 10, "test": 20}
    assert load_split(config, "dev").pairs == synthetic("reverse", 20, 2, 5, 10, 3, "dev")


@pytest.mark.parametrize("pair", ["en-fr", "fr-en", "en-hi"])
def test_the_phrasebook_has_the_configured_sizes(pair: str) -> None:
    config = data(kind="phrasebook", pair=pair, train=30, dev=10, test=20)
    found = sources(config)
    assert {split: len(texts) for split, texts in found.items()} == {"train": 30, "dev": 10, "test": 20}
    assert not set(found["train"]) & set(found["test"])
    assert all(pair.links is not None for pair in load_split(config, "test").pairs)


def test_files_are_found_from_the_recipe_s_folder(tmp_path: Path) -> None:
    for split in SPLITS:
        (tmp_path / f"{split}.tsv").write_text(f"{split} a\tb\tby me\n", "utf-8")
    config = data(kind="tsv", train="train.tsv", dev="dev.tsv", test="test.tsv", columns=[1, 2], base=tmp_path)
    assert load_split(config, "test").pairs == [Pair("test a", "b")]
    assert load_split(config, "test").notes == ()
    assert DATA.validate_python(config.model_dump(mode="json")) == config


def test_skipped_lines_are_reported(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tb\n\nc\t\n", "utf-8")
    config = data(kind="tsv", train="t.tsv", dev="t.tsv", test="t.tsv", base=tmp_path)
    assert load_split(config, "train").notes == ("t.tsv: 2 lines left out, a side is blank (first: line 2)",)


@pytest.fixture
def undivided(tmp_path: Path) -> Path:
    lines = [f"sentence {number}\tphrase {number} {again}" for number in range(200) for again in (1, 2)]
    (tmp_path / "all.tsv").write_text("\n".join(lines), "utf-8")
    (tmp_path / "backwards.tsv").write_text("\n".join(reversed(lines)), "utf-8")
    return tmp_path


def test_splits_without_a_file_are_held_out_of_train_and_reported(undivided: Path) -> None:
    config = data(kind="tsv", train="all.tsv", base=undivided)
    found = sources(config)
    assert {split: len(texts) for split, texts in found.items()} == {"train": 360, "dev": 20, "test": 20}
    assert not set(found["train"]) & set(found["dev"])
    assert not set(found["train"]) & set(found["test"])
    assert not set(found["dev"]) & set(found["test"])
    note = "no {0} file: 20 of the 400 training pairs, chosen by their source text, are held out for {0}"
    assert load_split(config, "train").notes == (note.format("dev"), note.format("test"))
    assert load_split(config, "dev").notes == (note.format("dev"),)


def test_the_holdout_depends_only_on_the_texts(undivided: Path) -> None:
    first = sources(data(kind="tsv", train="all.tsv", base=undivided))
    second = sources(data(kind="tsv", train="backwards.tsv", base=undivided))
    assert {split: sorted(texts) for split, texts in first.items()} == {
        split: sorted(texts) for split, texts in second.items()
    }
    with_test = data(kind="tsv", train="all.tsv", test="backwards.tsv", base=undivided)
    assert sources(with_test)["dev"] == first["dev"]
    assert len(sources(with_test)["train"]) == 380
    assert len(sources(with_test)["test"]) == 400


def test_near_duplicates_are_never_in_two_splits(tmp_path: Path) -> None:
    editions = (
        "sentence {}",
        "Sentence {}!",
        "  SENTENCE,  {} ",
        "\u201csentence {}\u201d",
        "se\u0301ntence {}",
        "s\u00e9ntence {}.",
    )
    lines = [f"{edition.format(number)}\tphrase" for number in range(100) for edition in editions]
    (tmp_path / "all.tsv").write_text("\n".join(lines), "utf-8")
    found = sources(data(kind="tsv", train="all.tsv", base=tmp_path))
    assert sum(map(len, found.values())) == len(lines)
    bared = {split: {bare(text) for text in texts} for split, texts in found.items()}
    assert len(bared["test"]) == len(bared["dev"]) == 10
    assert not bared["train"] & (bared["dev"] | bared["test"])
    assert not bared["dev"] & bared["test"]


def test_too_little_to_hold_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tb\na\tc\nb\td\n", "utf-8")
    with pytest.raises(
        InputError, match=r"2 different source sentences are too few .* to hold out .* give dev and test files"
    ):
        load_split(data(kind="tsv", train="t.tsv", base=tmp_path), "train")


def test_the_message_uses_the_singular(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tb\nA!\tc\n", "utf-8")
    with pytest.raises(InputError, match=r"^1 source sentence is too few \(but for case and punctuation\) to hold out"):
        load_split(data(kind="tsv", train="t.tsv", base=tmp_path), "train")


def test_a_limit_that_leaves_no_pair_raises(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a b c\td\ne f g\th\n", "utf-8")
    config = data(kind="tsv", train="t.tsv", dev="t.tsv", test="t.tsv", longest_words=2, base=tmp_path)
    wanted = r"t.tsv: every training pair \(2\) has more than 2 words on a side, .* raise longest_words in \[data\]"
    with pytest.raises(InputError, match=wanted):
        load_split(config, "train")
    assert len(load_split(config, "test").pairs) == 2  # of training alone


def test_parallel_files_by_prefix_or_by_path(tmp_path: Path) -> None:
    for name, text in {"train.en": "a", "train.fr": "b", "test.en": "c", "test.fr": "d", "test.align": "0-0"}.items():
        (tmp_path / name).write_text(text + "\n", "utf-8")
    by_prefix = data(
        kind="parallel", train="train", dev="test", test="test", source="en", target="fr", links="align", base=tmp_path
    )
    by_path = data(
        kind="parallel",
        train={"source": "train.en", "target": "train.fr"},
        dev={"source": "test.en", "target": "test.fr", "links": "test.align"},
        test={"source": "test.en", "target": "test.fr", "links": "test.align"},
        base=tmp_path,
    )
    for split in SPLITS:
        assert load_split(by_prefix, split) == load_split(by_path, split)
    assert load_split(by_path, "train").pairs == [Pair("a", "b")]
    (pair,) = load_split(by_path, "test").pairs
    assert pair.links is not None
    assert pair.links.sure == {(0, 0)}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "xlsx"}, "'phrasebook', 'copy', 'reverse', 'sort', 'tsv', 'csv', 'parallel'"),
        ({"kind": "copy", "vocab": 9}, "vocab"),
        ({"kind": "copy", "shortest": 9, "longest": 3}, "shortest = 9 is more than longest = 3"),
        ({"kind": "tsv"}, "train"),
        ({"kind": "tsv", "train": "t", "held_out": 0.5}, "held_out"),
        ({"kind": "parallel", "train": "train"}, '"train" is a prefix: give the endings too'),
        ({"kind": "parallel", "train": "t", "source": "en", "target": "en"}, "paired with itself"),
    ],
)
def test_a_wrong_data_table_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        data(**table)


def test_shared_keys_apply_to_both_sides() -> None:
    text = TextConfig.model_validate(
        {"kind": "bpe", "vocabulary": 500, "normalise": {"lowercase": True}, "joint": True}
    )
    assert (
        text.source == text.target == TokenizerConfig(kind="bpe", vocabulary=500, normalise=Normaliser(lowercase=True))
    )


def test_a_sides_table_overrides_shared_keys() -> None:
    text = TextConfig.model_validate(
        {
            "kind": "bpe",
            "vocabulary": 500,
            "normalise": {"lowercase": True},
            "source": {"kind": "character", "vocabulary": None, "normalise": {"drop_final_stop": True}},
            "target": {"vocabulary": 300},
        }
    )
    assert text.source == TokenizerConfig(kind="character", normalise=Normaliser(lowercase=True, drop_final_stop=True))
    assert text.target == TokenizerConfig(kind="bpe", vocabulary=300, normalise=Normaliser(lowercase=True))
    assert TextConfig.model_validate(text.model_dump(mode="json")) == text


def test_without_a_text_table_words_are_words() -> None:
    assert TextConfig().source == TextConfig().target == TokenizerConfig()
    assert TextConfig(source=TokenizerConfig(kind="character")).source.kind == "character"


@pytest.mark.parametrize(
    ("table", "place", "message"),
    [
        ({"kind": "bp"}, ("kind",), "'word', 'character', 'bpe' or 'unigram'"),
        ({"normalise": {"lowercas": True}}, ("normalise", "lowercas"), "Extra inputs"),
        ({"kind": "bpe"}, ("source",), "needs the number of pieces"),
        ({"joint": True, "source": {"kind": "character"}}, (), "source and target differ in kind"),
        ({"sources": {}}, ("sources",), "Extra inputs"),
        ({"source": "word"}, ("source",), "valid dictionary"),
        ({"longest_source": 0}, ("longest_source",), "greater than or equal to 1"),
    ],
)
def test_a_wrong_text_table_is_refused(table: dict[str, object], place: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        TextConfig.model_validate(table)
    assert refused.value.errors()[0]["loc"] == place
