"""The list of recipe keys: complete, explained, and the same on the command line and in the docs."""

from pathlib import Path

from regard.training.recipe_keys import page_of_keys, recipe_tables, text_of_keys
from regard.training.train_config import TrainConfig

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "recipe-keys.md"


def test_the_page_is_what_the_script_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of_keys(), "run python docs/reference/make_recipe_keys.py"


def test_every_key_has_a_type_and_a_meaning() -> None:
    for table in recipe_tables():
        for key in table.keys:
            assert key.meaning, f"{table.name} {key.name}"
            assert "<" not in key.type + key.default
            assert "typing." not in key.type + table.name


def test_keys_of_every_table_are_there() -> None:
    tables = {table.name: {key.name: key for key in table.keys} for table in recipe_tables()}
    assert set(tables["[train]"]) == set(TrainConfig.model_fields)
    assert {'[data] with kind = "csv"', '[model] with architecture = "transformer"', "[search.longest]"} <= set(tables)
    steps = tables["[train]"]["steps"]
    assert (steps.type, steps.default) == ("whole number, at least 1, at most 1,000,000,000", "not set")
    assert tables['[data] with kind = "csv"']["train"].default == ""
    assert tables["[search]"]["beam"].default == "1"


def test_the_command_line_fits_a_terminal() -> None:
    text = text_of_keys()
    assert "[text.source], [text.target]" in text
    assert max(map(len, text.splitlines())) <= 100
