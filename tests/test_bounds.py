"""Issue 13, item 3: one table of bounds, in code and docs; every number that a user may give has an upper limit."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import BaseModel

from regard.bounds import MOST, cut, cut_middle, excerpt, table
from regard.bundle.manifest import Manifest
from regard.cli.main import VERBS
from regard.data.catalogue import CatalogueEntry
from regard.lab.align_settings import AlignOptions, AlignSettings
from regard.lab.compare.plan import Comparison
from regard.search.search_config import SearchConfig
from regard.text.complaint import complain
from regard.text.input_error import InputError
from regard.text.tokenizer import TokenizerConfig
from regard.training.recipe import Recipe, RecipeError, load_recipe, parse_recipe

MODELS: tuple[type[BaseModel], ...] = (
    Recipe,
    Comparison,
    Manifest,
    AlignOptions,
    AlignSettings,
    TokenizerConfig,
    CatalogueEntry,
)
RAW: dict[str, Any] = {
    "data": {"kind": "reverse"},
    "model": {"preset": "bahdanau", "size": "tiny"},
    "train": {"steps": 2, "batch_sentences": 4},
}


def numbers(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every whole number in a JSON schema, with the key it stands under."""
    if isinstance(schema, list):
        for one in schema:
            yield from numbers(one, path)
    elif isinstance(schema, dict):
        if schema.get("type") in ("integer", "number") and "const" not in schema and "enum" not in schema:
            yield path, schema
        for key, inner in schema.items():
            yield from numbers(inner, key if schema.get("type") == "object" or "properties" in path else path)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_whole_number_of_a_file_has_an_upper_limit(model: type[BaseModel]) -> None:
    schema = model.model_json_schema()
    tables = {model.__name__: schema, **schema.get("$defs", {})}
    endless = [
        f"{name}.{key}"
        for name, one in tables.items()
        for key, field in one.get("properties", {}).items()
        for _, number in numbers(field, key)
        if number["type"] == "integer" and not {"maximum", "exclusiveMaximum"} & number.keys()
    ]
    assert not endless


@pytest.mark.parametrize("key", ["train.learning_rate", "train.weight_decay", "train.clip", "search.temperature"])
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_numbers_are_finite(key: str, value: str) -> None:
    with pytest.raises(RecipeError, match=f"{key} = {value}: expected a finite number"):
        parse_recipe(RAW, overrides=[f"{key}={value}"])


@pytest.mark.parametrize("verb", VERBS)
def test_every_whole_number_of_a_verb_has_an_upper_limit(verb: str) -> None:
    module = import_module(f"regard.cli.{verb}")
    hints = get_type_hints(getattr(module, verb), vars(module) | {"Path": Path}, include_extras=True)
    options = {name: get_args(hint) for name, hint in hints.items() if get_args(hint)}
    whole = {name: option for name, (kind, option) in options.items() if int in (kind, *get_args(kind))}
    assert {name for name, option in whole.items() if option.max is None} <= {"base", "gold_base", "tier"}, (
        "those are 0 or 1, or 1 to 3"
    )


@pytest.mark.parametrize(
    ("override", "most"),
    [
        ("search.beam=1001", MOST["beam"]),
        ("search.longest=1000000000", MOST["longest"]),
        ("search.longest.factor=1e9", MOST["factor"]),
        ("search.length_penalty=1e300", MOST["penalty"]),
        ("train.threads=100000", MOST["threads"]),
        ("train.steps=10_000_000_000", MOST["steps"]),
        ("train.seed=0xffffffffffffffffffff", MOST["seed"]),
        ("model.embedding=1_000_000_000", MOST["width"]),
        ("model.encoder_layers=1000", MOST["layers"]),
        ("text.longest_source=1_000_000_000_000", MOST["longest"]),
        ("text.vocabulary=10_000_000", MOST["vocabulary"]),
        ("data.train=1_000_000_000_000", MOST["generated"]),
    ],
)
def test_values_above_the_limit_raise_with_the_limit(override: str, most: int) -> None:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(RAW, overrides=[override])
    assert f"at most {most}" in str(caught.value)
    assert override.split("=")[0].rsplit(".", 1)[-1] in str(caught.value)


def test_the_docs_show_the_table() -> None:
    page = Path(__file__).parents[1] / "docs" / "bounds.md"
    assert table() in page.read_text(encoding="utf-8")


def test_search_never_writes_more_than_the_longest_text() -> None:
    import torch

    config = SearchConfig.model_validate({"longest": {"factor": 100.0, "offset": 100_000}})
    assert config.limits(torch.tensor([1, 100_000])).tolist() == [100_000, 100_000]


@pytest.mark.parametrize(
    "value", ["x" * 10_000_000, 10**400, [["y" * 1000] * 1000], {"a": {"b": [1] * 10_000}}], ids="tnlo"
)
def test_long_values_are_shortened_in_messages(value: object) -> None:
    assert len(excerpt(value)) <= MOST["quoted"]
    for raw in (
        {**RAW, "train": {**RAW["train"], "steps": value}},
        {**RAW, "model": {"preset": value}},
        {**RAW, "model": {"preset": "bahdanau", "cell": value}},
        {**RAW, "search": {"longest": value}},
        {**RAW, "data": {"kind": value}},
    ):
        with pytest.raises(RecipeError) as caught:
            parse_recipe(raw)
        assert len(str(caught.value)) < 600


def test_long_keys_are_shortened_in_messages() -> None:
    with pytest.raises(RecipeError, match="unknown key xxxx") as caught:
        parse_recipe({**RAW, "x" * 10_000_000: 1})
    assert len(str(caught.value)) < 600


def test_a_message_keeps_its_beginning_and_its_remedy() -> None:
    message = str(InputError("it begins " + "x" * 10_000_000 + " fix it"))
    assert len(message) <= MOST["message"]
    assert message.startswith("it begins")
    assert message.endswith("fix it")
    assert cut_middle("short") == cut("short") == "short"


@pytest.mark.parametrize(
    "text",
    ["x = " + "[" * 50_000 + "]" * 50_000, ".".join("a" * 100_000) + " = 1", "x = " + "{a=" * 20_000],
    ids=["lists", "key", "tables"],
)
def test_deep_toml_raises_a_message(text: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match=r"train.steps = .*: expected a whole number") as caught:
        load_recipe("demo", [f"train.steps={text.removeprefix('x = ')}"])
    assert len(str(caught.value)) < 600
    with pytest.raises(RecipeError, match=r"deep.toml is not valid TOML") as caught:
        load_recipe(path)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 100_000])
def test_a_number_of_thousands_of_digits_raises_a_message(number: str, tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text(f"x = {number}", encoding="utf-8")
    with pytest.raises(RecipeError, match=r"large.toml is not valid TOML: it holds a number of thousands of digits$"):
        load_recipe(path)


def test_a_recipe_is_a_small_file(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_bytes(b"")
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(RecipeError, match=r"large.toml .* bytes, at most 262,144 are read"):
        load_recipe(path)


def test_complain_accepts_numbers_that_python_cannot_print() -> None:
    from pydantic import ValidationError

    with pytest.raises(ValidationError) as caught:
        AlignSettings.model_validate({"forward": {"shift": 10**5000}})
    assert "forward.shift = a number of about 5,000 digits: expected at most" in complain(caught.value, AlignSettings)
    json.dumps(complain(caught.value, AlignSettings))
