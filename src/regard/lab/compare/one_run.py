"""One run of a comparison in its own process: train or resume, evaluate, write result.json."""

import hashlib
import json
import os
import signal
import statistics
import sys
import threading
import time
import warnings
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from regard.alignment import LinkRule
from regard.bundle.bundle_folder import write_whole
from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.lab.against import sentence_statistics
from regard.lab.align_corpus import Direction, default_rule, gold_in_words
from regard.lab.evaluate_model import Measured, Scoring, has_attention, measure
from regard.lab.parallel import ParallelText, gold_links
from regard.lab.tuning import tune_with_gold
from regard.reading_files import read_json
from regard.runtime.aligner import Aligner
from regard.runtime.translator import Translator, load
from regard.text.controls import escape_controls
from regard.text.input_error import InputError
from regard.training.device import pick_device
from regard.training.journal import NAME, read_journal
from regard.training.recipe import parse_recipe
from regard.training.run import train
from regard.training.world import find_world

TASK, RESULT, WARNINGS = "task.json", "result.json", "warnings.jsonl"
TUNING = 200
"""Development pairs for tuning the link rule."""
INTERRUPTED = 130
PAUSE = 0.5
"""Seconds between two checks that the parent process lives."""


@dataclass(frozen=True)
class Task:
    """The task of a process, kept in its folder."""

    variant: str
    seed: int
    recipe: dict[str, Any]
    sentences: int | None
    shown: int
    protocol: str = "model"

    def write(self, folder: Path) -> None:
        write_whole(folder / TASK, json.dumps(asdict(self), ensure_ascii=False))

    @classmethod
    def read(cls, folder: Path) -> "Task":
        return cls(**read_json(folder / TASK))


def main(arguments: Sequence[str]) -> int:
    """`python -P -m regard.lab.compare.one_run FOLDER [PARENT] [CLASS...]`; the last line of the log is the error.

    If the process PARENT ends, this one saves and ends too. Each CLASS outside regard may be imported; a name in the
    recipe is not enough, because the folder may come from another person.
    """
    folder = Path(arguments[0])
    trust = [one for one in arguments[1:] if ":" in one]
    parents = [int(one) for one in arguments[1:] if ":" not in one]
    if parents:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # processes started with a shell's & ignore it
        threading.Thread(target=_end_with, args=(parents[0],), daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, folder)
            return work(folder, Task.read(folder), trust)
    except (InputError, ValueError, RuntimeError, OSError, MemoryError) as error:
        _log(str(error))
        return 1


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os.kill(os.getpid(), signal.SIGINT)


def _show_warning(folder: Path, message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """`regard compare` prints our own warnings; those of libraries stay in the log."""
    if category.__module__.startswith("regard."):
        _warn(folder, str(message))
    else:
        _log(f"{category.__name__}: {message}")


def _warn(folder: Path, message: str) -> None:
    """Logs a warning, and keeps it for `regard compare` as a line of JSON."""
    with (folder / WARNINGS).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"message": _one_line(message)}) + "\n")
    _log(f"warning: {message}")


def _log(message: str) -> None:
    sys.stderr.write(_one_line(message) + "\n")


def _one_line(message: str) -> str:
    """The message with control characters escaped for terminals."""
    return escape_controls(" ".join(message.split()))


def work(folder: Path, task: Task, trust: Collection[str] = ()) -> int:
    """Train or resume, evaluate and write the result; returns INTERRUPTED after Ctrl-C."""
    run = folder / "run"
    recipe = parse_recipe(task.recipe, f"the recipe of {folder}")
    done = train(recipe, run, resume=(run / "recipe.json").exists(), trust=trust)
    if done.reason == "interrupted":
        return INTERRUPTED
    journal = read_journal(run / NAME)
    started = [entry for entry in journal if entry["event"] == "started"][-1]  # the last start, if it was resumed
    for note in started.get("notes", ()):
        _warn(folder, note)
    translator = load(run, str(pick_device(recipe.train.device, find_world())), trust=trust)
    pairs = load_split(recipe.data, "test").pairs[: task.sentences]
    rule, tuned = _tune(translator, load_split(recipe.data, "dev").pairs[:TUNING])
    measured = measure(translator, pairs, rule=rule, scoring=Scoring(task.protocol))
    result = {
        "variant": task.variant,
        "seed": task.seed,
        **_figures(journal, started),
        "parameters": translator.bundle.model.parameters_count,
        "memory": _memory(),
        "evaluation": measured.json(),
        "rule": None if rule is None else rule.describe(),
        "aer_by_shift": tuned,
        "examples": _examples(measured, pairs[: task.shown], translator, rule),
        "references": hashlib.sha256(json.dumps(measured.references).encode()).hexdigest(),
        "statistics": {metric: counts.tolist() for metric, counts in sentence_statistics(measured).items()},
    }
    write_whole(folder / RESULT, json.dumps(result, ensure_ascii=False))
    return 0


def _tune(translator: Translator, pairs: Sequence[Pair]) -> tuple[LinkRule | None, dict[str, float] | None]:
    """The best link rule for this model, and its error rate at each shift; None without gold links."""
    if not has_attention(translator.bundle):
        return None, None
    gold = gold_links(pairs)
    if gold is None:
        return default_rule(translator.bundle), None
    direction, text = Direction(Aligner(translator.bundle, characters=False)), ParallelText.of(pairs)
    (best,) = tune_with_gold(direction, None, text, gold_in_words(direction.aligner, text, gold)[0])
    found = best.alone["forward"]
    return found.rule, {str(shift): aer for shift, aer in found.by_shift().items()}


def _figures(journal: Sequence[dict[str, Any]], started: dict[str, Any]) -> dict[str, Any]:
    """Speed, time and the learning curve."""
    steps = [entry for entry in journal if entry["event"] == "step"]
    checks = [entry for entry in journal if entry["event"] == "validated"]
    return {
        "device": started["device"],
        "steps": steps[-1]["step"],
        "total_steps": started["total_steps"],
        "seconds": steps[-1]["seconds"],
        "tokens_per_second": statistics.median(entry["tokens_per_second"] for entry in steps),
        "metric": checks[-1]["metric"] if checks else "",
        "curve": [
            {"step": one["step"], "train_loss": one["train_loss"], "loss": one["loss"], "score": one["score"]}
            for one in checks
        ],
    }


def _memory() -> int:
    """Bytes: the GPU's peak, or this process's."""
    import resource

    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _examples(
    measured: Measured, pairs: Sequence[Pair], translator: Translator, rule: LinkRule | None
) -> list[dict[str, Any]]:
    """The translations, and the attention while the model is forced to write the references."""
    attentions = {}
    if rule is not None and pairs:
        aligner = Aligner(translator.bundle)
        attentions = dict(aligner.look([pair.source for pair in pairs], [pair.target for pair in pairs]))
    shown = []
    for number, pair in enumerate(pairs):
        one: dict[str, Any] = {"source": pair.source, "target": pair.target, "output": measured.texts[number]}
        if number in attentions and rule is not None:
            matrix = rule.matrix(attentions[number].between_words(rule.shift))
            one |= {
                "source_words": attentions[number].source_words,
                "target_words": attentions[number].target_words,
                "attention": matrix.round(4).tolist(),
            }
        shown.append(one)
    return shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
