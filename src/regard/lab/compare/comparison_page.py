"""The report of a comparison: an HTML page with a table, charts and heat-maps, and the same as JSON."""

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from regard.bundle.bundle_folder import write_whole
from regard.lab.compare.plan import Plan
from regard.lab.compare.results import Row, Spread, to_json
from regard.lab.compare.run_plan import together
from regard.lab.compare.significance import ABOUT, Pairing
from regard.lab.evaluation_page import length_charts
from regard.lab.machine import describe_machine
from regard.plot import (
    AttentionMap,
    LengthQuality,
    Series,
    chart_html,
    lines_html,
    page_html,
    side_by_side_html,
    table_html,
)
from regard.training.recipe import Recipe

COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "bleu": ("BLEU", lambda value: f"{value:.2f}"),
    "chrf": ("chrF", lambda value: f"{value:.2f}"),
    "exact_match": ("exact match", lambda value: f"{value:.1%}"),
    "aer": ("AER", lambda value: f"{value:.3f}"),
    "entropy": ("entropy, nats", lambda value: f"{value:.3f}"),
    "parameters": ("parameters", lambda value: f"{value:,.0f}"),
    "tokens_per_second": ("tokens/s", lambda value: f"{value:,.0f}"),
    "memory": ("memory, MB", lambda value: f"{value / 1e6:,.0f}"),
    "seconds": ("training, s", lambda value: f"{value:,.0f}"),
}


def cell(figure: str, spread: Spread | None, runs: int) -> str:
    """The mean ± the standard deviation over the seeds; how many of the runs have the figure, if not all."""
    if spread is None:
        return "–"
    _, form = COLUMNS[figure]
    some = f" ({spread.seeds} of {runs} seeds)" if spread.seeds < runs else ""
    if figure == "parameters" or spread.seeds < 2:  # which do not depend on the seed
        return form(spread.mean) + some
    return f"{form(spread.mean)} ± {form(spread.deviation)}{some}"


def table_rows(rows: Sequence[Row], pairs: Sequence[Pairing] = ()) -> list[list[str]]:
    """A heading, and the evaluated variants: figures, p against the first variant, and how they differ from it."""
    chances = p_values(rows, pairs)
    table = [["variant", *(name for name, _ in COLUMNS.values()), f"differs from {rows[0].name} in"]]
    for row in rows:
        if row.runs:
            figures = [cell(figure, row.figures.get(figure), len(row.runs)) for figure in COLUMNS]
            table.append([row.label, *figures, "; ".join(row.changes)])
    if chances:
        place = 1 + list(COLUMNS).index("bleu") + 1
        shown = [f"{chances[one[0]]:.3f}" if one[0] in chances else "–" for one in table[1:]]
        for one, chance in zip(table, ["p", *shown], strict=True):
            one.insert(place, chance)
    return table


def p_values(rows: Sequence[Row], pairs: Sequence[Pairing]) -> dict[str, float]:
    """By label: the p-value of a variant's BLEU against that of the first variant."""
    return {one.second: one.comparisons["bleu"].p_value for one in pairs if one.first == rows[0].label}


def write_report(
    plan: Plan, rows: Sequence[Row], jobs: int, folder: Path, pairs: Sequence[Pairing] = ()
) -> dict[str, Any]:
    """Write report.html and report.json; returns the content of the latter."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    machine = describe_machine(device, "one run at a time" if jobs == 1 else f"{jobs} runs side by side")
    significance = {"about": ABOUT, "pairs": [one.json() for one in pairs]}
    content = {**to_json(plan, rows, machine), "significance": significance}
    write_whole(folder / "report.json", json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    write_whole(folder / "report.html", comparison_page(plan, rows, machine, pairs))
    return content


def comparison_page(plan: Plan, rows: Sequence[Row], machine: dict[str, str], pairs: Sequence[Pairing] = ()) -> str:
    """Self-contained HTML."""
    comparison = plan.comparison
    done = [row for row in rows if row.runs]
    seeds = "One seed" if comparison.seeds == 1 else f"Mean over {comparison.seeds} seeds ± standard deviation"
    count, total = sum(len(row.runs) for row in rows), comparison.seeds * len(plan.variants)
    unfinished = f"Unfinished: {count} of {total} runs. " if count < total else ""
    about = f"{unfinished}{seeds}; {_budgets(plan)}."
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in _notes(done))
    heading, *body = [row[:-1] for row in table_rows(rows, pairs)]  # the differences have a table of their own
    figures = table_html("figures", heading, body, caption=about)
    sections = [f"<section><h2>Figures</h2>{figures}{notes}</section>", *_chances(pairs)]
    sections += [
        f"<section><h2>{escape(one.measure)} by source length</h2>{chart_html(one)}</section>" for one in charts(rows)
    ]
    curves = learning_series(rows)
    if curves:
        title = curve_title(rows)
        sections.append(f"<section><h2>Learning curves: {escape(title)}</h2>{lines_html(title, curves)}</section>")
    sections += _shifts(done)
    sections += _examples(done, comparison.shown)
    sections += _differences(rows)
    meta = {"recipe": comparison.recipe, **machine}
    return page_html(f"Comparison: {comparison.recipe}", sections, meta=meta)


def learning_series(rows: Sequence[Row]) -> list[Series]:
    """The learning curves of the variants that have any."""
    return [Series.of(row.label, *zip(*points, strict=True)) for row in rows if row.runs and (points := row.curve())]


def curve_title(rows: Sequence[Row]) -> str:
    metric = next(str(row.runs[0]["metric"]) for row in rows if row.runs)
    return f"{metric.replace('_', ' ')} on the development set"


def _chances(pairs: Sequence[Pairing]) -> list[str]:
    if not pairs:
        return []
    heads = ["variant", "against", "BLEU difference", "95 % interval", "p", "verdict"]
    caption = ABOUT[0].upper() + ABOUT[1:] + "."
    table = table_html("pairs", heads, [one.cells() for one in pairs], caption=caption, words=["against", "verdict"])
    return [f"<section><h2>May the differences be chance?</h2>{table}</section>"]


def _notes(rows: Sequence[Row]) -> list[str]:
    """Notes of the evaluations, e.g. about sources that were cut."""
    given = {
        row.label: dict.fromkeys(one for run in row.runs for one in run["evaluation"].get("notes", ())) for row in rows
    }
    by_note = together((label, note) for label, notes in given.items() for note in notes)
    return [f"{', '.join(names)}: {note}" for note, names in by_note.items()]


def _budgets(plan: Plan) -> str:
    """The training budget, or the budgets of the variants where they differ."""
    given = together((one.name, _budget(one.recipe)) for one in plan.variants)
    if len(given) == 1:
        return f"the budget is the same for all: {next(iter(given))}"
    return "the budgets differ: " + "; ".join(f"{', '.join(names)}: {budget}" for budget, names in given.items())


def _budget(recipe: Recipe) -> str:
    train = recipe.train
    length = f"{train.steps:,} steps" if train.steps is not None else f"{train.epochs} epochs"
    size = f"{train.batch_sentences} sentences" if train.batch_sentences is not None else f"{train.batch_tokens} tokens"
    return f"{length}, batches of {size}"


def charts(rows: Sequence[Row]) -> list[LengthQuality]:
    done = {row.label: row.by_length() for row in rows if row.runs}
    return length_charts(done, ("BLEU", "alignment error rate"))


def _shifts(rows: Sequence[Row]) -> list[str]:
    """Which row of attention belongs to a word: measured on the development set."""
    known = [row for row in rows if any(run.get("aer_by_shift") for run in row.runs)]
    if not known:
        return []
    shifts = sorted({shift for row in known for run in row.runs for shift in run["aer_by_shift"] or ()}, key=int)
    body = []
    for row in known:
        figures = [[run["aer_by_shift"][shift] for run in row.runs if run["aer_by_shift"]] for shift in shifts]
        body.append([row.label, *(f"{fmean(values):.3f}" for values in figures), str(row.runs[0]["rule"])])
    about = (
        "Alignment error rate on the development set with the best head, by shift: links of a word come from the row "
        "that produced it (0), the next (+1) or the one before (−1); and the rule that seed 0 chose."
    )
    columns = ["variant", *(f"{int(one):+d}".replace("+0", "0") for one in shifts), "rule"]
    table = table_html("alignment by shift", columns, body, caption=about, words=["rule"])
    return [f"<section><h2>Which row of attention aligns</h2>{table}</section>"]


def _examples(rows: Sequence[Row], count: int) -> list[str]:
    """The attention of every variant (seed 0) on the same sentences."""
    parts = []
    for number in range(count):
        several = [(row, row.runs[0]["examples"][number]) for row in rows if len(row.runs[0]["examples"]) > number]
        if not several:
            break
        first = several[0][1]
        # Older records have "said".
        wrote = [[row.label, one["output"] if "output" in one else one["said"]] for row, one in several]
        table = table_html("translations", ["variant", "wrote"], wrote, words=["wrote"])
        maps = side_by_side_html([(row.label, _map(one)) for row, one in several])
        parts.append(f'<h3 dir="auto">{escape(first["source"])} → {escape(first["target"])}</h3>{maps}{table}')
    if not parts:
        return []
    about = "The attention of each variant while it is forced to write the reference; rows written, columns read."
    return [f'<section><h2>Heat-maps side by side</h2><p class="soft">{about}</p>{"".join(parts)}</section>']


def _map(example: dict[str, Any]) -> AttentionMap:
    if "attention" not in example:
        return AttentionMap(None, example["source"].split() or ["∅"], example["target"].split() or ["∅"])
    matrix = np.array(example["attention"], dtype=float)
    return AttentionMap(matrix, example["source_words"], example["target_words"])


def _differences(rows: Sequence[Row]) -> list[str]:
    """How the variants differ from the first, and which could not be run."""
    changed = [[row.label, "; ".join(row.changes) or "the baseline"] for row in rows if row.runs]
    table = table_html("differences", ["variant", "keys"], changed, words=["keys"])
    sections = [f"<section><h2>What differs</h2>{table}</section>"]
    problems = [[row.label, row.problem] for row in rows if row.problem]
    if problems:
        table = table_html("problems", ["variant", "why"], problems, words=["why"])
        sections.append(f"<section><h2>Not run</h2>{table}</section>")
    return sections
