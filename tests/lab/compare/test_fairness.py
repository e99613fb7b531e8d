"""Comparisons show how their variants differ, and mark scores of unfinished comparisons and of runs stopped early."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.compare.conftest import RECIPE
from regard.lab.compare.comparison_page import comparison_page, table_rows
from regard.lab.compare.one_run import Task, work
from regard.lab.compare.plan import Comparison, VariantGrid, make_plan
from regard.lab.compare.results import gather, to_json
from regard.lab.compare.run_plan import Slot, open_folder
from regard.models.model_config import RecurrentConfig

SHAPE = ("encoder_units", "encoder_layers", "bidirectional", "decoder_units", "decoder_layers", "initial", "readout")


def models(tmp_path: Path, model: str) -> dict[str, RecurrentConfig]:
    path = tmp_path / "shape.toml"
    begin, _, rest = RECIPE.partition("[model]")
    path.write_text(f"{begin}[model]\n{model}\n[train]{rest.partition('[train]')[2]}", encoding="utf-8")
    grid = VariantGrid(score=("additive", "dot", "scaled-dot", "general"))
    plan = make_plan(Comparison(recipe=str(path), seeds=1, grid=grid))
    found = {}
    for one in plan.variants:
        assert isinstance(one.recipe.model, RecurrentConfig)
        found[one.name] = one.recipe.model
    return found


def shape(model: RecurrentConfig) -> dict[str, object]:
    return {key: getattr(model, key) for key in SHAPE}


@pytest.mark.parametrize(
    "model",
    [
        'encoder_units = 4\ndecoder_units = 8\ninitial = "last"',
        'encoder_units = 8\ndecoder_units = 8\nbidirectional = false\ninitial = "sum"',
        'encoder_units = 4\ndecoder_units = 8\ninitial = "backward"',
        'encoder_units = 4\ndecoder_units = 8\ninitial = "zero"',
    ],
)
def test_dot_has_the_architecture_of_the_others_where_widths_allow_it(tmp_path: Path, model: str) -> None:
    found = models(tmp_path, model)
    assert all(shape(one) == shape(found["additive"]) for one in found.values())


def test_widths_that_dot_requires_add_no_learned_bridge(tmp_path: Path) -> None:
    found = models(tmp_path, 'encoder_units = 8\ndecoder_units = 8\ninitial = "sum"')
    assert shape(found["general"]) == shape(found["additive"])
    for name in ("dot", "scaled-dot"):
        changed = {key for key in SHAPE if getattr(found[name], key) != getattr(found["additive"], key)}
        assert changed == {"encoder_units", "initial"}
        assert found[name].initial == "last"  # copies states like "sum"; "projection" would learn weights


def finished(slot: Slot, **train: object) -> None:
    recipe = slot.variant.recipe.model_dump(mode="json")
    recipe["train"] |= {"seed": slot.seed, **train}
    slot.folder.mkdir(parents=True)
    assert work(slot.folder, Task(slot.variant.name, slot.seed, recipe, 10, 1, "lowercase")) == 0


def test_every_difference_is_in_the_table(recipe: Path, tmp_path: Path) -> None:
    plan = make_plan(Comparison(recipe=str(recipe), seeds=1, sentences=5, grid=VariantGrid(score=("additive", "dot"))))
    slots = open_folder(plan, tmp_path / "out", resume=False)
    for slot in slots:
        finished(slot)
    heading, additive, dot = table_rows(gather(plan, slots, {}))
    assert heading[-1] == "differs from additive in"
    assert additive[-1] == ""
    assert dot[-1] == "model.encoder_units: 6 → 4; model.score: 'additive' → 'dot'"


def test_unfinished_comparisons_and_runs_stopped_early_are_marked_at_their_scores(recipe: Path, tmp_path: Path) -> None:
    grid = VariantGrid(score=("additive", "general"))
    plan = make_plan(Comparison(recipe=str(recipe), seeds=3, sentences=5, grid=grid))
    slots = open_folder(plan, tmp_path / "out", resume=False)
    finished(slots[0])
    finished(slots[1], steps=6000, patience=1, learning_rate=1e-12)  # nothing is learned: the run ends early
    rows = gather(plan, slots, {})
    general = "general (1 of 3 seeds, step 6 of 6,000)"
    assert [row[0] for row in table_rows(rows)[1:]] == ["additive (1 of 3 seeds)", general]
    page = comparison_page(plan, rows, {})
    assert page.count(general) >= 5  # figures, charts and their tables, curves, heat-maps, differences
    assert "<b>general</b>" not in page
    assert ">general<" not in page
    content = to_json(plan, rows, {})
    assert [one["state"] for one in content["variants"]] == ["1 of 3 seeds", "1 of 3 seeds, step 6 of 6,000"]
    notes = rows[1].runs[0]["evaluation"]["notes"]
    assert "its training stopped early, at step 6 of 6,000" in notes
    three = {name: replace(spread, seeds=3) for name, spread in rows[0].figures.items()}
    whole = replace(rows[0], runs=rows[0].runs * 3, figures=three)
    assert table_rows([whole])[1][0] == "additive"
    json.dumps(content)
