"""The models in the package: found by name, within their size, described by a card."""

import re
import shutil
from pathlib import Path

import pytest

import regard
from regard.bundle import BundleError, find_bundle, load_bundle
from regard.bundle.cards import read_cards, stored_bytes
from regard.bundle.find import PRETRAINED, pretrained_names
from regard.data import phrasebook

MEGABYTES = {
    "en-fr": 10, "fr-en": 10, "g2p-en": 5,
    "demo-en-fr": 2, "demo-en-fr-vanilla": 2, "demo-en-fr-transformer": 2, "demo-fr-en": 2, "demo-en-hi": 2,
}  # fmt: skip
"""The most that a model's folder may take."""


def test_the_models_are_those_that_have_a_budget_and_keep_it() -> None:
    assert pretrained_names() == sorted(MEGABYTES)
    assert all(stored_bytes(name) <= most * 1e6 for name, most in MEGABYTES.items())
    assert sum(map(stored_bytes, MEGABYTES)) <= 35e6


@pytest.mark.parametrize("name", sorted(MEGABYTES))
def test_a_model_is_an_int8_bundle_that_names_no_machine(name: str) -> None:
    bundle = load_bundle(name)
    assert bundle.manifest.stored == "int8"
    assert bundle.path == PRETRAINED / name
    text = (PRETRAINED / name / "manifest.json").read_text(encoding="utf-8")
    assert not re.search(r'"(/|[A-Z]:\\)', text), "an absolute path"


@pytest.mark.parametrize("name", sorted(set(MEGABYTES) - {"g2p-en"}))
def test_a_recipe_describes_the_direction_of_its_model(name: str) -> None:
    pair = re.search("(..)-(..)", name.removeprefix("demo-"))
    assert pair is not None
    names = {"en": "English", "fr": "French", "hi": "Hindi"}
    description = load_bundle(name).manifest.recipe["description"]
    assert f"{names[pair[1]]} to {names[pair[2]]}" in description
    assert "unless" not in description


@pytest.mark.parametrize("pair", phrasebook.PAIRS)
def test_demo_models_translate_the_showcase(pair: str) -> None:
    shown = phrasebook.showcase(pair)
    found = regard.load(f"demo-{pair}").translate([phrasebook.as_written(one.source) for one in shown])
    right = [one.target == other.text for one, other in zip(shown, found, strict=True)]
    assert sum(right) >= len(right) - 1
    assert all(one.alignment for one in found)


def test_models_made_to_be_compared_read_and_write_the_words_of_the_demo() -> None:
    demo = load_bundle("demo-en-fr")
    for kind, attends in (("vanilla", False), ("transformer", True)):
        translator = regard.load(f"demo-en-fr-{kind}")
        other = translator.bundle
        assert (other.source.pieces, other.target.pieces) == (demo.source.pieces, demo.target.pieces)
        assert other.manifest.source_eos == demo.manifest.source_eos
        found = translator.translate("The black cat sat on the mat.")
        assert found.text == "le chat noir était assis sur le tapis"
        assert (found.attention is not None) == attends


def test_the_pronunciation_model_knows_everyday_words() -> None:
    phones = {
        "Hello": "HH AH L OW", "world": "W ER L D", "thought": "TH AO T", "keyboard": "K IY B AO R D",
        "station": "S T EY SH AH N", "night": "N AY T", "queen": "K W IY N", "island": "AY L AH N D",
        "school": "S K UW L", "synchronise": "S IH NG K R AH N AY Z",
    }  # fmt: skip
    found = regard.load("g2p-en").translate(list(phones))
    right = [one.text == wanted for one, wanted in zip(found, phones.values(), strict=True)]
    assert sum(right) >= len(right) - 1
    assert not regard.load("g2p-en").translate("antidisestablishmentarianism").warnings, "read to its end"
    assert {(0, 0), (1, 1), (3, 3)} <= found[-1].alignment, "s, y and c of synchronise"


def test_cards_are_complete() -> None:
    cards = read_cards()
    assert list(cards) == pretrained_names()
    for card in cards.values():
        assert card.data
        assert card.faults
        assert re.fullmatch("[0-9a-f]{7,40}", card.commit)


def test_an_existing_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_bundle("demo-en-fr") == PRETRAINED / "demo-en-fr"
    shutil.copytree(PRETRAINED / "demo-fr-en", tmp_path / "demo-en-fr")
    assert find_bundle("demo-en-fr") == Path("demo-en-fr")
    assert load_bundle("demo-en-fr").manifest == load_bundle("demo-fr-en").manifest


@pytest.mark.parametrize("path", ["./demo-en-fr", "runs/demo-en-fr", "../pretrained/demo-en-fr", ""])
def test_only_the_bare_name_finds_a_model_of_the_package(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if path == "./demo-en-fr":
        assert find_bundle(path) == PRETRAINED / "demo-en-fr", "pathlib drops the dot"
        return
    with pytest.raises(BundleError, match="no bundle at"):
        find_bundle(path)


def test_a_mistyped_name_gets_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BundleError, match=r"did you mean 'demo-en-fr'\? Models in the package: demo-en-fr, demo-en-"):
        find_bundle("demo-en-rf")


def test_a_path_that_hides_a_model_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en-fr").mkdir()
    (tmp_path / "fr-en").touch()
    for name in ("en-fr", "fr-en"):
        hint = f"it hides the model {name} of the package: rename it, or work in another folder"
        with pytest.raises(BundleError, match=hint):
            find_bundle(name)


def test_messages_call_a_model_of_the_package_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.cli.main import run

    monkeypatch.chdir(tmp_path)
    assert load_bundle(PRETRAINED / "g2p-en").name == "g2p-en"
    for command, wanted in (
        ("translate en-fr x --ensemble g2p-en", "g2p-en and en-fr have different vocabularies"),
        ("evaluate g2p-en", "the test data of g2p-en is not in the package: name the data to use, as in regard "
                            "evaluate g2p-en pairs.tsv (lines of source TAB target)"),
        ("evaluate g2p-en --split foo", "there is no split 'foo'"),
    ):  # fmt: skip
        assert run(command.split()) == 2
        message = " ".join(capsys.readouterr().err.split())
        assert wanted in message
        assert "/" not in message


def test_the_name_is_accepted_wherever_a_bundle_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.cli.main import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.tsv").write_text("the cat sleeps\tle chat dort\n", encoding="utf-8")
    for command in (
        "translate demo-en-fr sleep --ensemble demo-en-fr",
        "evaluate demo-en-fr pair.tsv",
        "align demo-en-fr pair.tsv --reverse demo-fr-en",
        "plot demo-en-fr cat --out cat.png",
        "info demo-en-fr",
        "doctor demo-en-fr",
        "export int8 demo-en-fr --out small",
    ):
        assert run(command.split()) == 0, (command, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "text", "translation"), [("en-fr", "i love you", "Je t'aime."), ("fr-en", "je t'aime", "I love you.")]
)
def test_texts_without_a_final_stop_are_translated_as_sentences(name: str, text: str, translation: str) -> None:
    translator = regard.load(name)
    assert translator.translate(text).text == translation
    assert translator.translate(text, prefix=translation[:3]).text.startswith(translation[:3] + translation[3])
