"""Reads the JSON records of docs/results and writes Markdown tables."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

RESULTS = Path(__file__).parents[1]


def record(name: str) -> Any:
    """One JSON file of docs/results, without its suffix."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def records(folder: str) -> list[Any]:
    """Every JSON file of a folder of docs/results, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((RESULTS / folder).glob("*.json"))]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every row must fill it."""
    body = [list(row) for row in rows]
    for row in body:
        assert len(row) == len(head), f"{len(row)} cells under {len(head)} headings: {row}"
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(head), ["---"] * len(head), *body])


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The mean, and with several values their standard deviation."""
    return f"{fmean(values):.{digits}f}" + (f" ± {stdev(values):.{digits}f}" if len(values) > 1 else "")


def each(values: Iterable[float], digits: int = 1) -> str:
    """Every value, one for each seed."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def millions(parameters: float) -> str:
    return f"{parameters / 1e6:.2f} M"


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
