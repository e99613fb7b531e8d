"""A comparison as CSV, LaTeX, SVG and PDF, and the significance of its differences."""

import csv
from pathlib import Path

import numpy as np
import pytest

from regard.evaluation import bleu_statistics, match_statistics
from regard.lab.compare.comparison_page import write_report
from regard.lab.compare.export_files import export, table_csv, table_latex
from regard.lab.compare.plan import Comparison, VariantGrid, make_plan
from regard.lab.compare.results import Result, Row, Spread, gather
from regard.lab.compare.run_plan import open_folder
from regard.lab.compare.significance import pair_up

from .test_fairness import finished

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
REFERENCES = [f"the cat number {word} sat on the mat" for word in NUMBERS]


def result(texts: list[str], seed: int = 0, references: list[str] = REFERENCES) -> Result:
    counts = {"bleu": bleu_statistics(texts, references), "exact_match": match_statistics(texts, references)}
    return {
        "seed": seed,
        "references": str(references),
        "statistics": {key: one.tolist() for key, one in counts.items()},
    }


def row(name: str, *runs: Result) -> Row:
    return Row(name, runs, {"bleu": Spread.of([1.0, 2.0])}, (), seeds=len(runs))


def test_pairs_of_variants_are_compared_on_their_common_seeds_and_sentences() -> None:
    wrong = ["a dog", *REFERENCES[1:]]
    good, same = row("good", result(REFERENCES), result(REFERENCES, 1)), row("same", result(REFERENCES))
    bad = row("bad", result(["a dog ran off with it"] * 8))
    (pair,) = pair_up([good, same])
    assert (pair.first, pair.second, pair.seeds) == ("good", "same", 1)
    assert pair.comparisons["bleu"].difference == 0
    assert pair.comparisons["bleu"].p_value == 1
    (pair,) = pair_up([good, bad])
    assert pair.comparisons["exact_match"].difference == 1
    assert pair.comparisons["bleu"].p_value < 0.01
    assert pair.cells()[-1] == "better"
    assert len(pair_up([good, same, bad])) == 3
    assert np.isclose(pair_up([row("w", result(wrong)), same])[0].comparisons["exact_match"].first, 7 / 8)


def test_variants_with_other_references_or_seeds_are_not_paired() -> None:
    good = row("good", result(REFERENCES))
    assert pair_up([good, row("lower", result(REFERENCES, 0, [one.upper() for one in REFERENCES]))]) == []
    assert pair_up([good, row("other", result(REFERENCES, 5))]) == []
    assert pair_up([good, row("none")]) == []


def test_csv_and_latex_hold_every_figure_and_escape_names() -> None:
    rows = [row("a & b_c, 100%", result(REFERENCES)), row("two", result(REFERENCES))]
    pairs = pair_up(rows)
    heading, first, second = csv.reader(table_csv(rows, pairs).splitlines())
    assert heading[:5] == ["variant", "state", "bleu_mean", "bleu_deviation", "bleu_seeds"]
    assert heading[-2:] == ["bleu_p", "differs"]
    assert first[:5] == ["a & b_c, 100%", "", "1.5", str(2**-0.5), "2"]
    assert second[heading.index("aer_mean")] == ""
    assert second[heading.index("bleu_p")] == "1.0"
    text = table_latex(rows, pairs)
    assert r"a \& b\_c, 100\%" in text
    assert r"1.50 $\pm$ 0.71" in text
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len({line.count(" & ") for line in lines}) == 1


@pytest.mark.slow
def test_a_comparison_exports_tables_and_figures(recipe: Path, tmp_path: Path) -> None:
    plan = make_plan(
        Comparison(recipe=str(recipe), seeds=1, sentences=10, grid=VariantGrid(score=("additive", "general")))
    )
    out = tmp_path / "out"
    slots = open_folder(plan, out, resume=False)
    for slot in slots:
        finished(slot)
    rows = gather(plan, slots, {})
    pairs = pair_up(rows)
    content = write_report(plan, rows, 1, out, pairs)
    assert [one["first"] for one in content["significance"]["pairs"]] == ["additive"]
    assert "statistics" not in content["variants"][0]["runs"][0]
    assert "May the differences be chance?" in (out / "report.html").read_text(encoding="utf-8")
    written = export(rows, pairs, out)
    assert {path.name for path in written} == {
        "report.csv", "report.tex", "bleu-by-length.svg", "bleu-by-length.pdf", "learning-curves.svg",
        "learning-curves.pdf", "alignment-error-rate-by-length.svg", "alignment-error-rate-by-length.pdf",
    }  # fmt: skip
    assert "<svg" in (out / "learning-curves.svg").read_text(encoding="utf-8")
    assert (out / "bleu-by-length.pdf").read_bytes().startswith(b"%PDF")
