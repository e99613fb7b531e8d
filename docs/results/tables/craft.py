"""Tables about how models are trained: teacher forcing, packing and masks."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from tables.records import each, markdown, record

FORCING = {
    "1": "all",
    "0.75": "three quarters",
    "0.5": "half",
    "0.25": "a quarter",
    "0": "none",
    "linear": "all at first, none at the end (linear)",
    "inverse-sigmoid": "the same along an inverse sigmoid",
}


def _forcing(task: str) -> dict[str, list[Any]]:
    """The runs of a task by how many true words the decoder was given, seeds in order."""
    runs = sorted(
        (run for run in record("teacher_forcing")["runs"] if run["task"] == task), key=lambda run: run["seed"]
    )
    found = {name: [run for run in runs if run["forcing"] == name] for name in FORCING}
    return {name: several for name, several in found.items() if several}


def _seeds(runs: Sequence[Any], value: Callable[[Any], float], digits: int = 1) -> str:
    """One figure for each seed, or one for all where they are equal."""
    shown = [f"{value(run):.{digits}f}".replace("100.0", "100") for run in runs]
    shown = ["0" if one == "0.0" else one for one in shown]
    return shown[0] if len(set(shown)) == 1 else ", ".join(shown)


def _share(place: int, key: str) -> Callable[[Any], float]:
    return lambda run: 100 * float(run["bins"][place][key])


def forcing_reverse() -> str:
    tasks = _forcing("reverse")
    bins = [f"{one['shortest']}–{one['longest']}" for one in tasks["1"][0]["bins"]]
    rows = [
        [
            FORCING[name],
            *(_seeds(runs, _share(place, "exact_match")) for place in range(len(bins))),
            _seeds(runs, lambda run: 100 * run["validations"][2][2]),
            _seeds(runs, lambda run: next(n for n, one in enumerate(run["validations"], 1) if one[2] >= 0.95), 0),
        ]
        for name, runs in tasks.items()
    ]
    return markdown(["true words read", *bins, "development data after three epochs", "epochs to 95 % there"], rows)


def forcing_exposure() -> str:
    keys = ("forced_accuracy", "free_accuracy", "after_forced", "after_free")
    tasks = _forcing("reverse")
    rows = [[FORCING[name], *(_seeds(runs, _share(3, key)) for key in keys)] for name, runs in tasks.items()]
    head = ["true words read", "true before", "own before", "after a mistake: true before", "own before"]
    return markdown(head, rows)


def forcing_phrasebook() -> str:
    tasks = _forcing("phrasebook")
    bins = [f"{one['shortest']}–{one['longest']}" for one in tasks["1"][0]["bins"][:3]]
    rows = [
        [
            FORCING[name],
            *(f"{100 * one['exact_match']:.1f}" for one in run["bins"][:3]),
            each(100 * one[2] for one in run["validations"] if one[0] in (250, 500, 1000)),
            *_next_words(run["bins"][2]),
        ]
        for name, (run,) in tasks.items()
    ]
    return markdown(["true words read", *bins, "development data after 250, 500, 1,000 steps", *NEXT], rows)


def forcing_multi30k() -> str:
    tasks = _forcing("multi30k")
    bins = [f"{one['shortest']}–{one['longest']}" for one in tasks["1"][0]["bins"]]
    rows = [
        [
            FORCING[name],
            *(f"{one['bleu']:.1f}" for one in run["bins"]),
            each(one[2] for one in run["validations"]),
            *_next_words(run["bins"][2]),
            f"{run['seconds']:.0f}",
        ]
        for name, (run,) in tasks.items()
    ]
    return markdown(["true words read", *bins, "val after 500, 1,000, 1,500 steps", *NEXT, "seconds"], rows)


NEXT = ("next word: true before", "own before", "after a mistake: true before", "own before")


def _next_words(one: Any) -> list[str]:
    return [f"{100 * one[key]:.1f}" for key in ("forced_accuracy", "free_accuracy", "after_forced", "after_free")]


READERS = {
    "ours": "ours: packing and mask",
    "packing, no mask": "packing, no mask",
    "no packing, mask": "mask, no packing",
    "no packing, no mask": "neither",
    "no packing, no mask, all padded alike": "neither, every batch padded to the longest",
    "no packing, no mask, last state": "neither, the decoder begins with the last state",
    "packing, mask only in training": "packing, mask only in training",
    "fixed vector, packing": "no attention, packing",
    "fixed vector, no packing": "no attention, no packing",
}


def packing_reverse() -> str:
    return _packing("reverse", ("3–5", "6–8", "9–12"), (12, 24))


def packing_phrasebook() -> str:
    return _packing("phrasebook", ("3–6", "7–12", "13–20"), (20, 40))


def _packing(task: str, bins: Sequence[str], columns: tuple[int, int]) -> str:
    found = [run for run in record("packing")["runs"] if run["task"] == task]
    sides = {"alone": "alone", "padded": f"padded to {columns[0]}", "twice": f"padded to {columns[1]}"}
    head = [f"{label}: {one}" if one == bins[0] else one for label in sides.values() for one in bins]
    rows = []
    for reader, label in READERS.items():
        runs = [run for run in found if run["reader"] == reader]
        cells = [_span([100 * run["bins"][place][side] for run in runs]) for side in sides for place in range(3)]
        changed = [
            _span([100 * fmean(one[f"{side}_changed"] for one in run["bins"]) for run in runs])
            for side in ("padded", "twice")
        ]
        rows.append([label, *cells, ", ".join(changed)])
    return markdown(["", *head, f"outputs changed by {columns[0]}, by {columns[1]} columns"], rows)


def _span(values: Sequence[float]) -> str:
    """The mean, and half of what the seeds span."""
    half = (max(values) - min(values)) / 2
    mean = f"{fmean(values):.1f}"
    if f"{half:.1f}" != "0.0":
        return f"{mean} ± {half:.1f}"
    return {"0.0": "0", "100.0": "100"}.get(mean, mean)


def diagnosis() -> str:
    """How the course's grader judges the corpus of learners' files, half by half, at each stage that was recorded."""
    stages = {
        "diagnosis-first": "first contact",
        "diagnosis-untouched": "after the work",
        "diagnosis-later": "first contact",
        "diagnosis": "after reading the faults",
        "diagnosis-second-first": "first contact",
        "diagnosis-second": "after the work, unread",
        "diagnosis-second-read": "after reading the faults",
    }
    parts = {"later": "exercises 18 to 20", "second": "second corpus"}
    rows = [
        [
            f"{label}, {parts.get(half, f'{half} half')}",
            f"{one['diagnosed']} of {one['mistakes']} ({one['share']:.0%})".replace("%", " %"),
            str(one["accepted"]),
            f"{one['refused']} of {one['passed'] + one['refused']}",
        ]
        for name, label in stages.items()
        for half, one in record(name)["halves"].items()
    ]
    return markdown(["", "mistakes diagnosed", "wrong solutions accepted", "right solutions refused"], rows)
