"""Plans: every combination as a complete recipe, combinations that cannot be built with the reason, plan files."""

from pathlib import Path

import pytest

from regard.lab.compare.comparison_page import table_rows
from regard.lab.compare.plan import (
    AXES,
    DEFAULT,
    Comparison,
    Variant,
    VariantGrid,
    load_comparison,
    make_plan,
    names,
    plan_changes,
)
from regard.lab.compare.results import gather
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.text.input_error import InputError
from regard.training.recipe import load_recipe


def test_every_combination_of_every_axis_is_a_recipe(recipe: Path) -> None:
    plan = make_plan(
        Comparison(recipe=str(recipe), seeds=1, grid=VariantGrid(**{**AXES, "also": ("vanilla", "transformer")}))
    )
    expected = 1
    for values in AXES.values():
        expected *= len(values)
    assert len(plan.variants) == expected + 2
    # A Transformer's scores fit every window and placement; nothing is left out for want of trying.
    assert not plan.skipped
    for one in plan.variants[:-2]:
        model = one.recipe.model
        assert isinstance(model, RecurrentConfig)
        score, window, placement, cell = one.name.split(" · ")
        assert (model.score, model.window, model.cell) == (score, window, cell)
        assert (model.placement, model.input_feeding) == (placement.removesuffix("-fed"), placement == "output-fed")
    transformer, vanilla = plan.variants[-2:]
    assert isinstance(vanilla.recipe.model, RecurrentConfig)
    assert vanilla.recipe.model.score == "none"
    assert isinstance(transformer.recipe.model, TransformerConfig)


def test_an_axis_that_is_left_out_keeps_the_recipes_value(comparison: Comparison) -> None:
    plan = make_plan(comparison)
    assert [one.name for one in plan.variants] == ["additive", "general", "vanilla"]
    assert [one.slug for one in plan.variants] == ["additive", "general", "vanilla"]
    for one in plan.variants:
        assert (one.recipe.train.steps, one.recipe.train.batch_sentences) == (6, 8)
        assert isinstance(one.recipe.model, RecurrentConfig)
        assert one.recipe.model.decoder_units == 8
    assert plan_changes(plan)["general"] == ["model.score: 'additive' → 'general'"]
    assert plan_changes(plan)["additive"] == []


def test_a_recipe_alone_has_a_default_comparison() -> None:
    found = load_comparison("reverse")
    assert (found.grid, found.seeds) == (DEFAULT, 3)
    assert len(make_plan(found).variants) == 8


def test_the_first_variant_that_can_be_built_is_the_baseline(recipe: Path) -> None:
    variants = {"impossible": {"model": {"heads": 3}}, "wide": {"model": {"decoder_units": 16}}}
    plan = make_plan(Comparison(recipe=str(recipe), variants=variants))
    first, skipped = gather(plan, [], {})
    assert (first.name, first.changes) == ("wide", ())
    assert (skipped.name, skipped.problem) == ("impossible", plan.skipped["impossible"])
    assert table_rows([first, skipped])[0][-1] == "differs from wide in"


def test_a_comparison_file(tmp_path: Path, recipe: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'recipe = "tiny.toml"\nset = ["train.steps=4"]\nseeds = 1\n[grid]\nscore = ["additive"]\n'
        "[variants.wide.model]\ndecoder_units = 16\n[variants.impossible.model]\nheads = 3\n"
        '[variants.small.model]\npreset = "transformer"\nsize = "tiny"\n',
        encoding="utf-8",
    )
    plan = make_plan(load_comparison(str(path)))
    assert [one.name for one in plan.variants] == ["additive", "wide", "small"]
    wide, small = plan.variants[1:]
    assert isinstance(wide.recipe.model, RecurrentConfig)
    assert (wide.recipe.model.decoder_units, wide.recipe.model.encoder_units) == (16, 6)
    assert wide.recipe.train.steps == 4
    assert list(plan.skipped) == ["impossible"]
    assert "heads = 3 needs score 'multi-head'" in plan.skipped["impossible"]
    assert isinstance(small.recipe.model, TransformerConfig)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('recipe = "reverse"\nseedz = 2\n', "unknown key seedz: did you mean 'seeds'"),
        ('recipe = "reverse"\nseeds = 0\n', "seeds = 0: expected at least 1"),
        (f'recipe = "reverse"\nseeds = {10**20}\n', "expected at most 1000"),
        ('recipe = "revers"\n', "no recipe 'revers': did you mean 'reverse'"),
        ('recipe = "reverse"\n[grid]\nscore = ["aditive"]\n', "score 'aditive': did you mean 'additive'"),
        ('recipe = "reverse"\n[grid]\nalso = ["bert"]\n', "also 'bert': valid choices are transformer, vanilla"),
        ('recipe = "reverse"\n[variants.a]\nmodel = 3\n', "expected tables of a recipe, as in"),
        (
            'recipe = "reverse"\n[variants."a b".model]\n[variants."a-b".model]\n',
            "two variants would share the folder a-b",
        ),
        (
            'recipe = "reverse"\n[variants.a.model]\ncell = "rnn"\n',
            "no variant can be built: a: variant 'a': model.cell",
        ),
        ("recipe = \n", "is not valid TOML"),
        ('[grid]\nscore = ["dot"]\n', "wrong.toml has no recipe: set the one that every variant starts from"),
        ("seeds = 2\n", "wrong.toml has no recipe"),
    ],
)
def test_invalid_comparisons(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        make_plan(load_comparison(str(path)))


def test_lists_with_commas_and_blanks() -> None:
    assert names(["additive, dot", "general"]) == ("additive", "dot", "general")


def test_folders_are_named_in_any_script_and_lie_inside() -> None:
    wanted = {"additive · output-fed": "additive-output-fed", "日本": "日本", "a_b": "a-b", "..": "variant"}
    assert {name: Variant(name, load_recipe("reverse")).slug for name in wanted} == wanted
