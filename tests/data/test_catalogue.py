"""The catalogue: every entry is complete, recipes find their files, and wrong keys raise clear messages."""

import os
from pathlib import Path
from typing import Any

import pytest

from regard.alignment.links import Links
from regard.data.catalogue import CatalogueEntry, catalogue, corpus_folder, find_entry, resolve
from regard.data.fetch import damaged
from regard.data.splits import load_split, open_split
from regard.data.tables import CatalogueData, ParallelData, TsvData
from regard.text.input_error import InputError

SHARED = Path(os.environ.get("REGARD_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("REGARD_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "regard"


def table(**keys: Any) -> CatalogueData:
    return CatalogueData.model_validate({"kind": "catalogue", **keys})


def fill(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.mark.parametrize("entry", catalogue().values(), ids=lambda entry: entry.name)
def test_an_entry_has_all_fields_that_a_user_needs(entry: CatalogueEntry) -> None:
    assert all((entry.title, entry.origin, entry.licence, entry.acknowledge, entry.use))
    assert len(entry.sides) >= 2
    splits = entry.splits()
    parts = entry.parts or ("",)
    for split in (entry.train, entry.dev, entry.test):
        for part in parts:
            assert split is None or splits[split.replace("{part}", part)] > 0
    if entry.layout == "parallel":
        assert set(entry.files) == {f"{split}.{side}" for split in splits for side in entry.sides}
        for split, count in splits.items():
            assert all(entry.files[f"{split}.{side}"].lines == count for side in entry.sides)


@pytest.mark.parametrize("entry", catalogue().values(), ids=lambda entry: entry.name)
def test_the_checksums_are_those_of_the_corpora(entry: CatalogueEntry) -> None:
    if not (SHARED / entry.name).is_dir():
        pytest.skip(f"no copy of {entry.name}: set REGARD_DATA to a folder of corpora")
    assert damaged(entry, SHARED / entry.name) == []


def test_unknown_names_raise_with_the_nearest_one() -> None:
    assert find_entry("multi30k").sides == ("en", "de", "fr")
    with pytest.raises(InputError, match=r"no corpus 'multi30' in the catalogue: did you mean 'multi30k'\?"):
        find_entry("multi30")
    with pytest.raises(InputError, match="valid names are europarl-en-fr, g2p-cmudict"):
        find_entry("zzz")


def test_a_recipe_s_corpus_becomes_files(home: Path) -> None:
    names = ("train__en", "train__de", "val__en", "val__de", "test_2016_flickr__en", "test_2016_flickr__de")
    fill(home / "multi30k", **dict.fromkeys(names, "a\n"))
    found = resolve(table(name="multi30k", source="de", target="en", limit=7))
    assert isinstance(found, ParallelData)
    assert (found.base, found.train, found.dev) == (home / "multi30k", Path("train"), Path("val"))
    assert (found.source, found.target, found.limit) == ("de", "en", 7)
    assert len(load_split(table(name="multi30k", source="de", target="en"), "dev").pairs) == 1


def test_links_are_read_in_either_direction(home: Path) -> None:
    text = {"en": "the cat\n", "fr": "le chat noir\n"}
    files = {f"{split}__{side}": text[side] for split in ("train", "trial", "test") for side in text}
    fill(home / "hansards-en-fr", **files, test__align="0-0 1?2\n")
    forward, backward = (
        load_split(table(name="hansards-en-fr", source=source, target=target), "test").pairs[0]
        for source, target in (("en", "fr"), ("fr", "en"))
    )
    assert forward.links == Links.of([(0, 0)], [(1, 2)])
    assert (backward.source, backward.links) == ("le chat noir", Links.of([(0, 0)], [(2, 1)]))
    assert load_split(table(name="hansards-en-fr", source="en", target="fr"), "train").pairs[0].links is None


def test_columns_and_parts(home: Path) -> None:
    fill(home / "tatoeba-en-fr", train__tsv="hi\tsalut\n", dev__tsv="a\tb\n", test__tsv="a\tb\n")
    config = table(name="tatoeba-en-fr", source="fr", target="en")
    assert isinstance(resolve(config), TsvData)
    assert load_split(config, "train").pairs[0].source == "salut"
    fill(home / "g2p-sigmorphon2020", fre_train__tsv="or\tɔ ʁ\n", fre_dev__tsv="a\tb\n", fre_test__tsv="a\tb\n")
    spoken = table(name="g2p-sigmorphon2020", source="word", target="ipa", part="fre")
    assert load_split(spoken, "train").pairs[0].target == "ɔ ʁ"


def test_another_split_can_be_named(home: Path) -> None:
    names = ("train__en", "train__fr", "dev__en", "dev__fr", "testlen__en", "testlen__fr")
    fill(home / "europarl-en-fr", **dict.fromkeys(names, "a\n"))
    found = resolve(table(name="europarl-en-fr", source="en", target="fr", test="testlen"))
    assert found.test == Path("testlen")


def test_the_training_text_of_another_corpus_is_added(home: Path) -> None:
    fill(home / "tatoeba-en-hi", train__tsv="hi\tनमस्ते\n", dev__tsv="a\tb\n", test__tsv="c\td\n")
    fill(home / "hindi-libreoffice", all__tsv="File\tफ़ाइल\tui\nEdit\tसंपादन\tui\n")
    config = table(name="tatoeba-en-hi", source="en", target="hi", more=["hindi-libreoffice"])
    assert [pair.source for pair in load_split(config, "train").pairs] == ["hi", "File", "Edit"]
    assert [pair.source for pair in load_split(config, "dev").pairs] == ["a"]
    for limit, notes in ((1, 1), (2, 1), (3, 0), (4, 0)):
        corpus = load_split(config.model_copy(update={"limit": limit}), "train")
        assert [pair.source for pair in corpus.pairs] == ["hi", "File", "Edit"][:limit]
        assert [f"only the first {limit} training pairs" in note for note in corpus.notes] == [True] * notes
    alone, both = (
        open_split(one, "train").key for one in (table(name="tatoeba-en-hi", source="en", target="hi"), config)
    )
    assert alone != both
    with pytest.raises(InputError, match="no corpus 'hindi' in the catalogue: did you mean 'hindi-libreoffice"):
        load_split(table(name="tatoeba-en-hi", source="en", target="hi", more=["hindi"]), "train")


def test_a_folder_named_by_the_user_comes_first(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = find_entry("tatoeba-en-fr")
    assert corpus_folder(entry) is None
    fill(home / entry.name, train__tsv="a\tb\n")
    assert corpus_folder(entry) == home / entry.name
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "own"))
    assert corpus_folder(entry) == home / entry.name
    fill(tmp_path / "own" / entry.name, train__tsv="a\tb\n")
    assert corpus_folder(entry) == tmp_path / "own" / entry.name


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"name": "multi30k", "source": "en", "target": "hi"}, "multi30k has no side 'hi': it has en, de, fr"),
        ({"name": "multi30k", "source": "en", "target": "en"}, "source and target are both 'en'"),
        ({"name": "multi30k", "source": "en", "target": "de"}, r"is not here: `regard data get multi30k` fetches it"),
        ({"name": "multi", "source": "en", "target": "de"}, "did you mean 'multi30k'"),
        (
            {"name": "tatoeba-en-fr", "source": "en", "target": "fr", "test": "tst"},
            "tatoeba-en-fr has no split 'tst': it has dev, test, train",
        ),
        ({"name": "tatoeba-en-fr", "source": "en", "target": "fr", "part": "x"}, "has no parts: leave part = 'x' out"),
        (
            {"name": "tatoeba-en-fr", "source": "en", "target": "fr"},
            r"the copy of tatoeba-en-fr in .* is incomplete \(no file .*dev.tsv.*\): `regard data get tatoeba-en-fr`",
        ),
    ],
)
def test_invalid_keys_raise(keys: dict[str, str], message: str, home: Path) -> None:
    fill(home / "tatoeba-en-fr", train__tsv="a\tb\n")
    with pytest.raises(InputError, match=message):
        resolve(table(**keys))


def test_the_part_must_be_named(home: Path) -> None:
    fill(home / "g2p-sigmorphon2020", fre_train__tsv="a\tb\n")
    for part, reason in ((None, "name one"), ("xxx", "no part 'xxx'")):
        with pytest.raises(InputError, match=f"has several parts, {reason}: part is one of ady, arm"):
            resolve(table(name="g2p-sigmorphon2020", source="word", target="ipa", part=part))
