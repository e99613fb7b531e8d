"""The first three minutes: train on the phrasebook, translate, look, and say how good it is."""

import json
from dataclasses import dataclass
from pathlib import Path

from regard.bundle.folder import explain, write_whole
from regard.data import phrasebook
from regard.data.pair import Pair
from regard.lab.evaluate import Measured, measure
from regard.lab.report import report_page
from regard.plot import heatmaps, save
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator, load
from regard.text.errors import InputError
from regard.train.journal import Listener
from regard.train.recipe import load_recipe
from regard.train.run import train

SENTENCES = 600
LONGER = ((21, 30), (31, 40), (41, 60))
"""Beyond what the demo trains on: reported by bin, not counted."""


@dataclass(frozen=True)
class Demo:
    """What the demo leaves behind, and what it shows."""

    folder: Path
    translator: Translator
    showcase: list[tuple[Pair, Translation]]
    measured: Measured
    longer: Measured
    train_seconds: float
    interrupted: bool = False


def run_demo(
    pair: str, out: Path, *, seed: int = 0, overwrite: bool = False, resume: bool = False, listener: Listener | None = None
) -> Demo:
    """Train the demo recipe for `pair` into `out` and measure it on sentences it never saw."""
    if pair not in phrasebook.PAIRS:
        raise InputError(f"no phrasebook '{pair}': valid choices are {', '.join(phrasebook.PAIRS)}")
    recipe = load_recipe("demo", [f"data.pair={pair}", f"train.seed={seed}"])
    result = train(recipe, out, resume=resume, overwrite=overwrite, listener=listener)
    translator = load(out)
    unseen = phrasebook.pairs(pair, "test", SENTENCES, seed=seed)
    measured = measure(translator, unseen)
    longer = measure(translator, [
        one for shortest, longest in LONGER
        for one in phrasebook.pairs(pair, "test", 60, seed=seed, shortest=shortest, longest=longest)
    ])  # fmt: skip
    showcase = phrasebook.showcase(pair)
    shown = list(zip(showcase, translator.translate([as_written(one.source) for one in showcase]), strict=True))
    demo = Demo(out, translator, shown, measured, longer, result.progress.seconds, result.reason == "interrupted")
    _write(demo, pair, seed)
    return demo


def as_written(sentence: str) -> str:
    """A sentence as a person types it, with a capital and a full stop."""
    return sentence[:1].upper() + sentence[1:] + ("।" if "\u0900" <= sentence[-1:] <= "\u097f" else ".")


def _write(demo: Demo, pair: str, seed: int) -> None:
    evaluation = demo.measured.evaluation
    report = {
        "pair": pair,
        "seed": seed,
        "exact_match": evaluation.exact_match,
        "aer": evaluation.aer,
        "bleu": evaluation.bleu,
        "chrf": evaluation.chrf,
        "sentences": evaluation.sentences,
        "train_seconds": round(demo.train_seconds, 1),
        "by_length": demo.measured.json()["by_length"] + demo.longer.json()["by_length"],
        "signatures": evaluation.signatures,
    }
    write_whole(demo.folder / "report.json", json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    maps = [translation.attention_map() for _, translation in demo.showcase]
    write_whole(demo.folder / "report.html", report_page(f"regard demo, {pair}", demo.measured, demo.longer, maps))
    try:
        save(heatmaps(maps[:4]), demo.folder / "alignment.png")
    except OSError as error:
        raise explain(error, demo.folder / "alignment.png") from error
