"""The results of a comparison's runs: means over seeds and their spread."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.evaluation import LengthScores
from regard.lab.compare.plan import Plan, plan_changes
from regard.lab.compare.run_plan import Slot

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


FIGURES = ("bleu", "chrf", "exact_match", "aer", "entropy", "parameters", "tokens_per_second", "memory", "seconds")


def figure(run: Result, name: str) -> float | None:
    """One of FIGURES of a run; None if it was not measured."""
    value = run["evaluation"][name] if name in run["evaluation"] else run[name]
    return None if value is None else float(value)


@dataclass(frozen=True)
class Row:
    """One variant: its runs, its figures, or why it has none."""

    name: str
    runs: tuple[Result, ...]
    figures: dict[str, Spread]
    changes: tuple[str, ...]
    problem: str = ""
    seeds: int = 1
    """Runs that were planned."""

    @property
    def state(self) -> str:
        """Missing runs of some seeds, or steps of runs that stopped early; empty if the row is complete."""
        missing = [f"{len(self.runs)} of {self.seeds} seeds"] if len(self.runs) < self.seeds else []
        early = [run["steps"] for run in self.runs if run.get("total_steps", 0) > run.get("steps", 0)]
        if early:
            steps = f"step {early[0]:,}" if len(set(early)) == 1 else f"steps {min(early):,} to {max(early):,}"
            missing.append(f"{steps} of {self.runs[0]['total_steps']:,}")
        return ", ".join(missing)

    @property
    def label(self) -> str:
        """The name with a mark for missing runs, as tables show it."""
        return f"{self.name} ({self.state})" if self.state else self.name

    def by_length(self) -> list[list[LengthScores]]:
        return [[LengthScores(**scores) for scores in run["evaluation"]["by_length"]] for run in self.runs]

    def curve(self) -> list[tuple[int, float]]:
        """(step, mean score on the development set) over the seeds."""
        steps: dict[int, list[float]] = {}
        for run in self.runs:
            for point in run["curve"]:
                if point["score"] is not None:
                    steps.setdefault(point["step"], []).append(point["score"])
        return [(step, statistics.fmean(scores)) for step, scores in sorted(steps.items())]


def gather(plan: Plan, slots: Sequence[Slot], failed: dict[str, str]) -> list[Row]:
    """A row for each variant, in the order of the plan; then those that cannot be built."""
    changes = plan_changes(plan)
    rows = []
    for variant in plan.variants:
        mine = [slot for slot in slots if slot.variant.name == variant.name]
        runs = tuple(found for slot in mine if (found := slot.result()) is not None)
        problems = [reason for slot in mine if (reason := failed.get(slot.name)) is not None]
        figures = {}
        for name in FIGURES:
            values = [value for run in runs if (value := figure(run, name)) is not None]
            if values:
                figures[name] = Spread.of(values)
        problem = "; ".join(dict.fromkeys(problems))
        rows.append(Row(variant.name, runs, figures, tuple(changes[variant.name]), problem, plan.comparison.seeds))
    return rows + [Row(name, (), {}, (), reason, plan.comparison.seeds) for name, reason in plan.skipped.items()]


def to_json(plan: Plan, rows: Sequence[Row], machine: dict[str, str]) -> dict[str, Any]:
    return {
        "comparison": plan.comparison.model_dump(mode="json"),
        "machine": machine,
        "variants": [
            {
                "name": row.name,
                "state": row.state,
                "changes": list(row.changes),
                "problem": row.problem,
                "figures": {name: asdict(spread) for name, spread in row.figures.items()},
                "runs": [{key: run[key] for key in run if key != "statistics"} for run in row.runs],
            }
            for row in rows
        ],
    }
