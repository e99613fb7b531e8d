"""A comparison for papers and spreadsheets: its table as CSV and LaTeX, its charts as SVG and PDF."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from regard.bundle.bundle_folder import write_whole
from regard.lab.compare.comparison_page import charts, curve_title, learning_series, p_values, table_rows
from regard.lab.compare.results import FIGURES, Row
from regard.lab.compare.significance import Pairing
from regard.plot import learning_curves, quality_by_length, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--",
    "→": r"$\to$", "·": r"$\cdot$", **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip


def export(rows: Sequence[Row], pairs: Sequence[Pairing], folder: Path) -> list[Path]:
    """Write the tables and charts into the folder; returns the files."""
    figures: dict[str, Figure] = {
        f"{one.measure.lower().replace(' ', '-')}-by-length": quality_by_length(one) for one in charts(rows)
    }
    if series := learning_series(rows):
        figures["learning-curves"] = learning_curves(series, curve_title(rows))
    written = [folder / "report.csv", folder / "report.tex"]
    write_whole(written[0], table_csv(rows, pairs))
    write_whole(written[1], table_latex(rows, pairs))
    return written + [save(one, folder / f"{name}.{end}") for name, one in figures.items() for end in ("svg", "pdf")]


def table_csv(rows: Sequence[Row], pairs: Sequence[Pairing]) -> str:
    """One line for each variant, with mean, standard deviation and number of seeds of each figure."""
    text, chances = StringIO(), p_values(rows, pairs)
    table = csv.writer(text, lineterminator="\n")
    parts = [f"{figure}_{part}" for figure in FIGURES for part in ("mean", "deviation", "seeds")]
    table.writerow(["variant", "state", *parts, "bleu_p", "differs"])
    for row in rows:
        cells: list[object] = []
        for figure in FIGURES:
            spread = row.figures.get(figure)
            cells += ["", "", ""] if spread is None else [spread.mean, spread.deviation, spread.seeds]
        state = row.problem or row.state
        table.writerow([row.name, state, *cells, chances.get(row.label, ""), "; ".join(row.changes)])
    return text.getvalue()


def table_latex(rows: Sequence[Row], pairs: Sequence[Pairing]) -> str:
    """A tabular without packages: the variants and their figures; p is that of BLEU against the first variant."""
    heading, *body = [row[:-1] for row in table_rows(rows, pairs)]
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(heading) - 1)}}}", r"\hline", _line(heading), r"\hline"]
    return "\n".join([*lines, *map(_line, body), r"\hline", r"\end{tabular}", ""])


def _line(cells: Sequence[str]) -> str:
    escaped = ["".join(_LATEX.get(character, character) for character in cell) for cell in cells]
    return " & ".join(escaped) + r" \\"
