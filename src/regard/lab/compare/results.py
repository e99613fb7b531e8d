"""What the runs of a comparison found, put together: the mean over seeds and how far they spread."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.evaluation import LengthScores
from regard.lab.compare.plan import Plan, plan_changes
from regard.lab.compare.run import Slot

Result = dict[str, Any]


@dataclass(frozen=True)
class Spread:
    """A figure over the seeds."""

    mean: float
    low: float
    high: float
    deviation: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        return cls(statistics.fmean(values), min(values), max(values), deviation, len(values))


FIGURES: dict[str, Callable[[Result], float | None]] = {
    "bleu": lambda one: one["evaluation"]["bleu"],
    "chrf": lambda one: one["evaluation"]["chrf"],
    "exact_match": lambda one: one["evaluation"]["exact_match"],
    "aer": lambda one: one["evaluation"]["aer"],
    "entropy": lambda one: one["evaluation"]["entropy"],
    "parameters": lambda one: one["parameters"],
    "tokens_per_second": lambda one: one["tokens_per_second"],
    "memory": lambda one: one["memory"],
    "seconds": lambda one: one["seconds"],
}


@dataclass(frozen=True)
class Row:
    """One variant: its runs, its figures, or why it has none."""

    name: str
    runs: tuple[Result, ...]
    figures: dict[str, Spread]
    changes: tuple[str, ...]
    problem: str = ""

    def by_length(self) -> dict[tuple[int, int | None], list[LengthScores]]:
        """The scores of each bin, one for every seed."""
        bins: dict[tuple[int, int | None], list[LengthScores]] = {}
        for run in self.runs:
            for scores in run["evaluation"]["by_length"]:
                bins.setdefault((scores["shortest"], scores["longest"]), []).append(LengthScores(**scores))
        return bins

    def curve(self) -> list[tuple[int, float]]:
        """(step, mean score on the development set) over the seeds."""
        steps: dict[int, list[float]] = {}
        for run in self.runs:
            for point in run["curve"]:
                if point["score"] is not None:
                    steps.setdefault(point["step"], []).append(point["score"])
        return [(step, statistics.fmean(scores)) for step, scores in sorted(steps.items())]


def gather(plan: Plan, slots: Sequence[Slot], failed: dict[str, str]) -> list[Row]:
    """A row for each variant, in the order of the plan; the best first within the report is left to it."""
    changes = plan_changes(plan)
    rows = []
    for variant in plan.variants:
        mine = [slot for slot in slots if slot.variant.name == variant.name]
        runs = tuple(found for slot in mine if (found := slot.result()) is not None)
        problems = [reason for slot in mine if (reason := failed.get(slot.name)) is not None]
        figures = {}
        for figure, get in FIGURES.items():
            values = [float(value) for run in runs if (value := get(run)) is not None]
            if values:
                figures[figure] = Spread.of(values)
        problem = variant.skipped or "; ".join(dict.fromkeys(problems))
        rows.append(Row(variant.name, runs, figures, tuple(changes.get(variant.name, ())), problem))
    return rows


def to_json(plan: Plan, rows: Sequence[Row], machine: dict[str, str]) -> dict[str, Any]:
    """Plain data: what was compared, on what, and everything that was found."""
    return {
        "comparison": plan.comparison.model_dump(mode="json"),
        "machine": machine,
        "variants": [
            {
                "name": row.name,
                "changes": list(row.changes),
                "problem": row.problem,
                "figures": {name: asdict(spread) for name, spread in row.figures.items()},
                "runs": list(row.runs),
            }
            for row in rows
        ],
    }
