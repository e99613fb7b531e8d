"""Recipes: strict tables, overrides, published recipes that run, and one-line errors with the nearest valid key."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from regard.bundle.store import load_bundle
from regard.data.catalogue import CatalogueEntry, find_entry
from regard.data.tables import CatalogueData, ParallelData, ParallelFiles
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.models.seq2seq import outline
from regard.training.portable import located_recipe
from regard.training.recipe import Recipe, RecipeError, find_recipe, load_recipe, parse_recipe, recipe_names
from regard.training.run import train
from regard.training.run_folder import read_run_recipe

from .tiny import TABLES, tiny

SMALL = (
    "data.train=24", "data.dev=2", "data.test=4", "data.longest=12",
    "train.steps=2", "train.validate_sentences=2", "train.deterministic=true", "train.device=cpu", "search.longest=5",
)  # fmt: skip


STORED = ("text.vocabulary=120", "train.steps=2", "train.validate_sentences=2", *SMALL[-3:])


@pytest.mark.parametrize("name", recipe_names())
def test_every_published_recipe_has_a_description_and_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "corpora"))
    data = load_recipe(name).data
    if isinstance(data, CatalogueData):
        for corpus in (data.name, *data.more):
            pretend(find_entry(corpus), tmp_path / "corpora")
    published = load_recipe(name).model
    outline(published, 120, 120)
    recipe = load_recipe(name, [*(STORED if isinstance(data, CatalogueData) else SMALL), *narrow(published)])
    assert recipe.description.endswith("."), "one sentence"
    result = train(recipe, tmp_path / "run")
    assert result.progress.step == 2
    assert load_bundle(tmp_path / "run").manifest.recipe["description"] == recipe.description


def narrow(model: RecurrentConfig | TransformerConfig) -> list[str]:
    """The changes that make a model small: all its widths a sixteenth."""
    if isinstance(model, TransformerConfig):
        return [f"model.width={4 * model.heads}", "model.feedforward=16"]
    widths = ("embedding", "encoder_units", "decoder_units", "attention_width", "readout_width")
    return [f"model.{key}={getattr(model, key) // 16}" for key in widths if getattr(model, key)]


def pretend(entry: CatalogueEntry, corpora: Path) -> None:
    """A small corpus in the format of the real one."""
    lines = [f"w{i} x{i % 5} y" for i in range(24)]
    for file in entry.files:
        path = corpora / entry.name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\t{line}\n" if file.endswith(".tsv") else f"{line}\n" for line in lines))


def complaint(tables: dict[str, Any]) -> str:
    with pytest.raises(RecipeError) as caught:
        parse_recipe({**TABLES, **tables}, "my.toml")
    message = str(caught.value)
    assert "\n" not in message
    assert not [noise for noise in ("pydantic", "Input", "Value error", "union") if noise in message]
    assert message.startswith("my.toml: ")
    return message.removeprefix("my.toml: ")


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"modle": {}}, "unknown key modle: did you mean 'model'?"),
        ({"data": {"kind": "reverse", "longst": 5}}, "unknown key data.longst: did you mean 'longest'?"),
        ({"data": {"kind": "phrasebook", "pare": "en-fr"}}, "unknown key data.pare: did you mean 'pair'?"),
        ({"data": {"kind": "phrasebook", "vocabulary": 9}}, "unknown key data.vocabulary: valid keys are dev, kind, "),
        ({"data": {"kind": "tsv", "train": "a", "column": [1]}}, "unknown key data.column: did you mean 'columns'?"),
        (
            {"data": {"kind": "parallel", "train": {"sorce": "a", "target": "b"}}},
            "unknown key data.train.sorce: did you mean 'source'?",
        ),
        ({"text": {"kynd": "word"}}, "unknown key text.kynd: did you mean 'kind'?"),
        ({"text": {"source": {"vocabularies": 9}}}, "unknown key text.source.vocabularies: did you mean 'vocabulary'?"),
        (
            {"text": {"target": {"normalise": {"lower": True}}}},
            "unknown key text.target.normalise.lower: did you mean 'lowercase'?",
        ),
        ({"text": {"normalise": {"lowercas": True}}}, "unknown key text.normalise.lowercas: did you mean 'lowercase'?"),
        ({"model": {"decoder_unit": 8}}, "unknown key model.decoder_unit: did you mean 'decoder_units'?"),
        ({"model": {"preset": "luong", "scor": "dot"}}, "unknown key model.scor: did you mean 'score'?"),
        ({"model": {"presett": "luong"}}, "unknown key model.presett: did you mean 'preset'?"),
        ({"model": {"preset": "transformer", "width_": 8}}, "unknown key model.width_: did you mean 'width'?"),
        ({"model": {"preset": "luong", "name": "x"}}, "unknown key model.name: "),
        ({"train": {"step": 5}}, "unknown key train.step: did you mean 'steps'?"),
        ({"search": {"beems": 5}}, "unknown key search.beems: did you mean 'beam'?"),
        ({"search": {"longest": {"factr": 2.0}}}, "unknown key search.longest.factr: did you mean 'factor'?"),
    ],
)  # fmt: skip
def test_an_unknown_key_raises_with_the_nearest_valid_one(tables: dict[str, Any], message: str) -> None:
    assert complaint(tables).startswith(message)


def in_train(**keys: Any) -> dict[str, Any]:
    return {"train": {"steps": 5, "batch_sentences": 2, **keys}}


LEARNED = {"architecture": "transformer", "positions": "learned", "longest": 20}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"data": {}}, "data.kind is missing: valid choices are phrasebook, copy, reverse, sort, tsv, csv, parallel"),
        ({"data": {"kind": "reverze"}}, "data.kind = 'reverze': did you mean 'reverse'?"),
        ({"data": 3}, "data = 3: expected a table"),
        ({"data": {"kind": "tsv"}}, "data.train is missing"),
        ({"data": {"kind": "tsv", "train": 3}}, "data.train = 3: expected a path in quotes"),
        ({"data": {"kind": "tsv", "train": "a", "columns": ["a", 2]}}, "data.columns.1 = 'a': expected a whole number"),
        ({"data": {"kind": "reverse", "shortest": 9, "longest": 2}}, "data: shortest = 9 is more than longest = 2"),
        ({"text": {"kind": "wrd"}}, "text.kind = 'wrd': did you mean 'word'?"),
        ({"model": {"architecture": "rn"}}, "model.architecture = 'rn': did you mean 'rnn'?"),
        ({"model": {"preset": "bahdano"}}, "model.preset: no preset 'bahdano': "),
        ({"model": {"size": "tiny"}}, "model.size belongs to a preset: name one, e.g. "),
        ({"model": {"score": "additiv"}}, "model: no score 'additiv': did you mean 'additive'?"),
        (in_train(steps="many"), "train.steps = 'many': expected a whole number"),
        (in_train(steps=2.5), "train.steps = 2.5: expected a whole number"),
        (in_train(steps=0), "train.steps = 0: expected at least 1"),
        (in_train(learning_rate=0), "train.learning_rate = 0: expected more than 0"),
        (in_train(learning_rate=float("inf")), "train.learning_rate = inf: expected a finite number"),
        (in_train(label_smoothing=1), "train.label_smoothing = 1: expected less than 1"),
        (in_train(teacher_forcing=1.5), "train.teacher_forcing = 1.5: expected at most 1"),
        (in_train(deterministic="maybe"), "train.deterministic = 'maybe': expected true or false"),
        (in_train(device=3), "train.device = 3: expected text in quotes"),
        (
            {"data": {"kind": "csv", "train": "a.csv", "delimiter": ";;"}},
            "data.delimiter = ';;': expected at most 1 character",
        ),
        (in_train(betas=0.9), "train.betas = 0.9: expected a list"),
        (in_train(betas=[0.9, 0.99, 0.999]), "train.betas = [0.9, 0.99, 0.999]: expected 2 values"),
        (in_train(betas=[0.9, 1.0]), "train: betas = [0.9, 1.0]: both must be at least 0 and less than 1"),
        (in_train(optimizer="adm"), "train.optimizer = 'adm': did you mean 'adam'?"),
        (in_train(metric="wer"), "train.metric = 'wer': valid choices are exact_match, bleu, chrf, loss"),
        (in_train(batch_tokens=9), "train: set exactly one of batch_sentences and batch_tokens"),
        ({"train": {"batch_sentences": 9}}, "train: neither epochs nor steps is set: set one of them"),
        (
            in_train(teacher_forcing=0.2, teacher_forcing_schedule="linear", teacher_forcing_end=0.5),
            "train: teacher forcing falls from 0.2 to 0.5: the end must not be higher",
        ),
        ({"train": 3}, "train = 3: expected a table"),
        ({"search": {"longest": "abc"}}, "search.longest = 'abc': expected a table or a whole number"),
        (
            {"text": {"kind": "character"}, **in_train(hide_words=0.1)},
            "train.hide_words = 0.1 hides whole words, but the pieces of [text] are of kind character: set kind = ",
        ),
        (
            {"model": {"architecture": "transformer"}, **in_train(teacher_forcing=0.5)},
            "train.teacher_forcing: a Transformer trains on all steps at once and cannot read its own words",
        ),
        (
            {"model": LEARNED, "text": {"longest_source": 20}},
            "text.longest_source = 20 (and EOS), but the model learns 20 positions: lower it to 19, or raise model",
        ),
        (
            {"model": LEARNED, "text": {"longest_target": 30}},
            "text.longest_target = 30 (and EOS), but the model learns 20 positions: lower it to 19",
        ),
        (
            {"model": LEARNED, "search": {"longest": 21}},
            "search.longest = 21, but the model learns 20 positions: lower it to 20, or raise model.longest",
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_raises_with_the_expected_one(tables: dict[str, Any], message: str) -> None:
    assert complaint(tables).startswith(message)


def test_sizes_that_just_fit_the_positions_are_accepted() -> None:
    for tables in (
        {"text": {"longest_source": 19, "longest_target": 19}, "search": {"longest": 20}},
        {"text": {"longest_source": 20, "source_eos": False}},
    ):
        assert parse_recipe({**TABLES, "model": LEARNED, **tables}).model.most_pieces == 20
    assert parse_recipe({**TABLES, "model": {**LEARNED, "positions": "sinusoidal"}}).model.most_pieces is None


def test_a_missing_table_is_named() -> None:
    with pytest.raises(RecipeError, match=r"^recipe: model is missing$"):
        parse_recipe({name: table for name, table in TABLES.items() if name != "model"})


def test_overrides_take_toml_values_and_bare_words() -> None:
    changes = [
        "train.steps=500", "train.betas=[0.8, 0.9]", "train.clip=0.5", "train.deterministic = false",
        "model.cell=lstm", "text.source.kind='character'", "search.longest.factor=3.0",
    ]  # fmt: skip
    recipe = load_recipe("reverse", changes)
    assert isinstance(recipe.model, RecurrentConfig)
    assert (recipe.train.steps, recipe.train.betas, recipe.train.clip) == (500, (0.8, 0.9), 0.5)
    assert (recipe.model.cell, recipe.text.source.kind, recipe.text.target.kind) == ("lstm", "character", "word")
    assert recipe.search.model_dump()["longest"]["factor"] == 3.0


@pytest.mark.parametrize(
    ("override", "example"),
    [
        ("train.steps", "train.steps=500"),
        ("steps", "train.steps=500"),
        ("=5", "train.steps=500"),
        ("train.=5", "train.steps=500"),
        ("nothing=5", "train.steps=500"),
        ("dropout=0.1", "train.steps=500"),  # two tables have it
        ("epochs=2", "train.epochs=2"),
        (".epochs=2", "train.epochs=2"),
        ("beam=5", "search.beam=5"),
        ("cell=lstm", "model.cell=lstm"),
    ],
)
def test_an_invalid_override_raises_with_an_example(override: str, example: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe("reverse", [override])
    assert str(caught.value) == f"--set {override}: write table.key=value, as in --set {example}"


def test_changing_data_kind_replaces_the_data_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key of the recipe's own [data] is left, in any order of the overrides."""
    monkeypatch.chdir(tmp_path)
    requested = ["data.train=mine", "data.source=en", "data.kind=parallel", "data.target=de"]
    recipe = load_recipe("multi30k-en-de-luong", requested)
    assert isinstance(recipe.data, ParallelData)
    assert recipe.data.train == tmp_path / "mine"
    assert (recipe.data.source, recipe.data.target) == ("en", "de")
    assert recipe.model == load_recipe("multi30k-en-de-luong").model
    same = load_recipe("multi30k-en-de", ["data.kind=catalogue", "data.target=fr"])
    assert same == load_recipe("multi30k-en-de", ["data.target=fr"])
    with pytest.raises(RecipeError, match=r"data\.train is missing"):
        load_recipe("multi30k-en-de", ["data.kind=tsv"])


def test_a_path_in_an_override_is_relative_to_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also each path of a table; other kinds of data name their splits, which are no paths."""
    monkeypatch.chdir(tmp_path)
    requested = ["data.kind=parallel", "data.train.source=a.en", "data.train.target=a.fr", "data.train.links=a.align"]
    data = load_recipe("multi30k-en-de", requested).data
    assert isinstance(data, ParallelData)
    assert data.train == ParallelFiles(source=tmp_path / "a.en", target=tmp_path / "a.fr", links=tmp_path / "a.align")
    catalogue = load_recipe("multi30k-en-de", ["data.train=val"]).data
    assert isinstance(catalogue, CatalogueData)
    assert catalogue.train == "val"


def test_an_override_cannot_reach_into_a_value() -> None:
    with pytest.raises(RecipeError, match="epochs is a value, not a table"):
        load_recipe("reverse", ["train.epochs.first=5"])


def test_overrides_change_a_recipe_object_too(tmp_path: Path) -> None:
    assert train(tiny(), tmp_path / "run", overrides=["train.steps=1"]).progress.step == 1


def test_a_missing_recipe_raises_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"no recipe 'revers': did you mean 'reverse'\?"):
        find_recipe("revers")
    with pytest.raises(
        RecipeError, match=r"no recipe 'zzz': valid names are copy, demo, .*\(a path of your own ends in"
    ):
        find_recipe("zzz")
    (tmp_path / "german.toml").write_text("")
    with pytest.raises(RecipeError, match=r"no recipe at .*germn.toml: did you mean 'german.toml'?"):
        find_recipe(tmp_path / "germn.toml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecipeError, match=r"no recipe at .*x.toml: there are no recipes in this folder"):
        find_recipe(tmp_path / "empty" / "x.toml")


def test_invalid_recipe_files_raise(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[train\nsteps = 5")
    with pytest.raises(RecipeError, match=r"mine.toml is not valid TOML: .*line 1"):
        load_recipe(path)
    path.write_bytes(b"description = '\xff'")
    with pytest.raises(RecipeError, match=r"mine.toml is not UTF-8: byte 15"):
        load_recipe(path)


@pytest.mark.parametrize("content", [b"the cat\tle chat\n", b"\x7fELF\x00\xff"])
def test_a_file_of_pairs_instead_of_a_recipe(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    with pytest.raises(RecipeError, match=r"pairs.tsv is not a recipe .*\[data\] .* train = \"pairs.tsv\""):
        load_recipe(path)


def test_paths_are_relative_to_the_recipe_and_overrides_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, here = tmp_path / "recipes", tmp_path / "here"
    for place in (folder, here):
        place.mkdir()
    (folder / "mine.toml").write_text(
        '[data]\nkind = "tsv"\ntrain = "a.tsv"\n[model]\n[train]\nsteps = 1\nbatch_sentences = 1\n'
    )
    monkeypatch.chdir(here)
    data = load_recipe("../recipes/mine.toml").data.model_dump()
    assert data["base"] / data["train"] == folder.resolve() / "a.tsv"
    data = load_recipe("../recipes/mine.toml", ["data.dev=b.tsv"]).data.model_dump()
    assert data["base"] / data["dev"] == here.resolve() / "b.tsv"


def test_a_recipe_survives_the_run_folder_and_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "corpus.tsv").write_text("".join(f"a{i} b\tb a{i}\n" for i in range(60)))
    raw = tomllib.loads(
        """
        description = "Everything that may change on the way."
        [data]
        kind = "tsv"
        train = "corpus.tsv"
        [text]
        kind = "bpe"
        vocabulary = 30
        dropout = 0.1
        normalise = { lowercase = true }
        target = { kind = "character", dropout = 0.0 }
        [model]
        preset = "luong"
        size = "tiny"
        encoder_units = 8
        decoder_units = 8
        embedding = 8
        [train]
        steps = 2
        batch_tokens = 200
        betas = [0.9, 0.98]
        device = "cpu"
        deterministic = true
        [search]
        beam = 2
        longest = 30
        """
    )
    recipe = parse_recipe(raw, base=tmp_path)
    assert parse_recipe(recipe.model_dump(mode="json")) == recipe
    train(recipe, tmp_path / "run")
    assert read_run_recipe(tmp_path / "run") == recipe
    for name in ("last", "best"):
        bundle = load_bundle(tmp_path / "run" / name)
        assert parse_recipe(located_recipe(bundle.manifest.recipe, bundle.path.parent)) == recipe
    assert isinstance(recipe, Recipe)
    assert recipe.text.target.kind == "character"
