"""One run of a comparison, in a process of its own: train (or go on), measure, write result.json."""

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
from pathlib import Path
from typing import Any

from regard.alignment import LinkRule
from regard.bundle.folder import write_whole
from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.lab.align import Direction, default_rule, gold_in_words
from regard.lab.evaluate import Measured, Scoring, has_attention, measure
from regard.lab.parallel import ParallelText
from regard.lab.tuning import tune_with_gold
from regard.reading_files import read_json
from regard.runtime.aligner import Aligner
from regard.runtime.translator import Translator, load
from regard.text.controls import escape_controls
from regard.text.errors import InputError
from regard.training.journal import NAME, read_journal
from regard.training.recipe import parse_recipe
from regard.training.run import train

TASK, RESULT = "task.json", "result.json"
TUNING = 200
"""Development pairs on which the rule that reads links from attention is chosen."""
INTERRUPTED = 130
WARNING = "warning: "
"""What a line of the log begins with that whoever runs the comparison should read."""
PAUSE = 0.5
"""Seconds between two looks for the process that started this one."""


@dataclass(frozen=True)
class Task:
    """What a process is to do in its folder."""

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
    """The process: `python -P -m regard.lab.compare.work FOLDER [PARENT] [CLASS...]`; the last line says what failed.

    PARENT is the process that waits for the result: where that is killed, this one saves and ends. CLASS is one from
    outside regard that may be imported: the folder may be somebody else's, so the name in it is not enough.
    """
    folder = Path(arguments[0])
    trust = [one for one in arguments[1:] if ":" in one]
    parents = [int(one) for one in arguments[1:] if ":" not in one]
    if parents:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & makes its processes deaf to it
        threading.Thread(target=_end_with, args=(parents[0],), daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _log_warning
            return work(folder, Task.read(folder), trust)
    except (InputError, ValueError, RuntimeError, OSError, MemoryError) as error:
        _log(str(error))
        return 1


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os.kill(os.getpid(), signal.SIGINT)


def _log_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Our own warnings are for people, as at the command line; those of libraries stay in the log."""
    ours = category.__module__.startswith("regard.")
    _log(f"{WARNING if ours else f'{category.__name__}: '}{message}")


def _log(message: str) -> None:
    """One line; people look at logs in terminals."""
    sys.stderr.write(escape_controls(" ".join(message.split())) + "\n")


def work(folder: Path, task: Task, trust: Collection[str] = ()) -> int:
    """Train what is not trained yet, measure, and write the result; INTERRUPTED where somebody stopped it."""
    run = folder / "run"
    recipe = parse_recipe(task.recipe, f"the recipe of {folder}")
    done = train(recipe, run, resume=(run / "recipe.json").exists(), trust=trust)
    if done.reason == "interrupted":
        return INTERRUPTED
    for note in _started(read_journal(run / NAME)).get("notes", ()):
        _log(f"{WARNING}{note}")
    translator = load(run, recipe.train.device if recipe.train.device != "auto" else _device(), trust=trust)
    pairs = load_split(recipe.data, "test").pairs[: task.sentences]
    rule, tuned = _tune(translator, load_split(recipe.data, "dev").pairs[:TUNING])
    measured = measure(translator, pairs, rule=rule, scoring=Scoring(task.protocol))
    result = {
        "variant": task.variant,
        "seed": task.seed,
        **_figures(run),
        "parameters": translator.bundle.model.parameters_count,
        "memory": _memory(),
        "evaluation": measured.json(),
        "rule": None if rule is None else rule.describe(),
        "aer_by_shift": tuned,
        "examples": _examples(measured, pairs[: task.shown], translator, rule),
    }
    write_whole(folder / RESULT, json.dumps(result, ensure_ascii=False))
    return 0


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _tune(translator: Translator, pairs: Sequence[Pair]) -> tuple[LinkRule | None, dict[str, float] | None]:
    """How links are best read from this model's attention, and its error rate at each shift; None without gold."""
    if not has_attention(translator.bundle):
        return None, None
    gold = [pair.links for pair in pairs if pair.links is not None]
    if not pairs or len(gold) < len(pairs):
        return default_rule(translator.bundle), None
    direction, text = Direction(Aligner(translator.bundle)), ParallelText.of(pairs)
    (best,) = tune_with_gold(direction, None, text, gold_in_words(direction.aligner, text, gold)[0])
    found = best.alone["forward"]
    return found.rule, {str(shift): aer for shift, aer in found.by_shift().items()}


def _figures(run: Path) -> dict[str, Any]:
    """Speed, time and the learning curve, from the journal."""
    entries = read_journal(run / NAME)
    steps = [entry for entry in entries if entry["event"] == "step"]
    checks = [entry for entry in entries if entry["event"] == "validated"]
    started = _started(entries)
    return {
        "device": started["device"],
        "steps": steps[-1]["step"],
        "seconds": steps[-1]["seconds"],
        "tokens_per_second": statistics.median(entry["tokens_per_second"] for entry in steps),
        "metric": checks[-1]["metric"] if checks else "",
        "curve": [
            {"step": one["step"], "train_loss": one["train_loss"], "loss": one["loss"], "score": one["score"]}
            for one in checks
        ],
    }


def _started(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return next(entry for entry in entries if entry["event"] == "started")


def _memory() -> int:
    """Bytes: the GPU's peak, or this process's."""
    import resource

    import torch

    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _examples(
    measured: Measured, pairs: Sequence[Pair], translator: Translator, rule: LinkRule | None
) -> list[dict[str, Any]]:
    """What was written, and where the model looks while it writes the reference: comparable between variants."""
    looks = {}
    if rule is not None and pairs:
        aligner = Aligner(translator.bundle)
        looks = dict(aligner.look([pair.source for pair in pairs], [pair.target for pair in pairs]))
    shown = []
    for number, pair in enumerate(pairs):
        one: dict[str, Any] = {"source": pair.source, "target": pair.target, "said": measured.texts[number]}
        if number in looks and rule is not None:
            matrix = rule.matrix(looks[number].between_words(rule.shift))
            one |= {
                "source_words": looks[number].source_words,
                "target_words": looks[number].target_words,
                "attention": matrix.round(4).tolist(),
            }
        shown.append(one)
    return shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
