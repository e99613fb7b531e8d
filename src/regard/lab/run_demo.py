"""`regard demo`: train on the phrasebook, translate, draw heat-maps, evaluate."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from regard.bundle.bundle_folder import explaining, write_whole
from regard.data import phrasebook
from regard.lab.evaluate_model import Example, Measured, measure
from regard.lab.evaluation_page import report_page
from regard.plot import heatmaps, save
from regard.reading_files import read_json
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator, load
from regard.text.input_error import InputError
from regard.training.journal import Listener
from regard.training.recipe import load_recipe
from regard.training.run import Result, train
from regard.training.world import find_world

SENTENCES = 600
LONGER = ((21, 30), (31, 40), (41, 60))
"""Lengths beyond those of training: reported by bin, not in the scores."""
SAMPLE = 60
"""Sentences in each of these bins."""
DRAWN = 4
"""Showcase sentences in the picture."""
EVERYDAY = {"en-fr": "Where have you hidden my car keys?", "fr-en": "Où as-tu caché les clés de ma voiture ?"}
"""A sentence for each model of the package that translates everyday text."""
_MADE = "Made by `regard demo`: "
_LANGUAGES = {"en": "English", "fr": "French", "hi": "Hindi"}


@dataclass(frozen=True)
class Demo:
    showcase: list[Example]
    measured: Measured
    longer: Measured


def pretrained_example(pair: str) -> Translation:
    """A sentence for a newcomer, translated by a model of the package."""
    model = pretrained_model(pair)
    sentence = EVERYDAY.get(pair) or phrasebook.as_written(phrasebook.showcase(pair)[0].source)
    return load(model).translate(sentence)


def pretrained_model(pair: str) -> str:
    """The best model of the package for a pair: one for everyday text, else one for the phrasebook."""
    check_pair(pair)
    return pair if pair in EVERYDAY else f"demo-{pair}"


def check_pair(pair: str) -> None:
    """Raise for a pair that has no phrasebook."""
    if pair not in phrasebook.PAIRS:
        raise InputError(f"no phrasebook '{pair}': valid choices are {', '.join(phrasebook.PAIRS)}")


def train_demo(
    pair: str,
    out: Path,
    *,
    seed: int = 0,
    resume: bool = False,
    overrides: Iterable[str] = (),
    listener: Listener | None = None,
) -> Result:
    """Train the demo recipe for `pair` into `out`; an earlier demo there is replaced, anything else is not."""
    if find_world().size > 1:
        raise InputError("the demo is for one worker: start it without torchrun (`regard train demo` takes several)")
    check_pair(pair)
    recipe = load_recipe("demo", [f"data.pair={pair}", f"data.seed={seed}", f"train.seed={seed}", *overrides])
    source, target = (_LANGUAGES[language] for language in pair.split("-"))
    about = f"a phrasebook in three minutes, {source} to {target}, additive attention."
    recipe = recipe.model_copy(update={"description": _MADE + about})
    if not resume:
        _refuse_other_runs(out)
    return train(recipe, out, resume=resume, overwrite=not resume, listener=listener)


def show_demo(
    pair: str, out: Path, *, seed: int, train_seconds: float, progress: Callable[[int], None] = lambda done: None
) -> Demo:
    """Evaluate the model in `out` on unseen sentences and write report.json, report.html and alignment.png."""
    translator = load(out)
    shown = phrasebook.showcase(pair)
    translated = translator.translate([phrasebook.as_written(one.source) for one in shown])
    showcase = [Example.of(one, other, translator.bundle) for one, other in zip(shown, translated, strict=True)]
    measured = measure(translator, phrasebook.pairs(pair, "test", SENTENCES, seed=seed), progress=progress)
    beyond = [
        one
        for shortest, longest in LONGER
        for one in phrasebook.pairs(pair, "test", SAMPLE, seed=seed, shortest=shortest, longest=longest)
    ]
    reader = Translator(translator.bundle.with_longest_source(translator.bundle.most_source))
    longer = measure(reader, beyond, progress=lambda done: progress(SENTENCES + done))
    scores = measured.json()
    report = {
        "pair": pair,
        "seed": seed,
        "train_seconds": round(train_seconds, 1),
        **{name: scores[name] for name in ("exact_match", "aer", "bleu", "chrf", "sentences", "signatures")},
        "by_length": scores["by_length"] + longer.json()["by_length"],
        "showcase": [
            {"source": one.translation.source, "text": one.translation.text, "right": one.right} for one in showcase
        ],
    }
    write_whole(out / "report.json", json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    maps = [one.attention_map() for one in showcase]
    unseen = "that the model never saw"
    write_whole(
        out / "report.html", report_page(f"regard demo, {pair}", measured, longer, maps, name="demo", about=unseen)
    )
    picture = out / "alignment.png"
    with explaining(picture):
        save(heatmaps([one.translation.attention_map() for one in showcase[:DRAWN]]), picture)
    return Demo(showcase, measured, longer)


def _refuse_other_runs(out: Path) -> None:
    """Raise for a run that `regard demo` did not make; `train` raises for folders that are not runs."""
    try:
        recipe = read_json(out / "recipe.json")
    except (OSError, ValueError):
        return
    if not isinstance(recipe, dict) or not str(recipe.get("description", "")).startswith(_MADE):
        raise InputError(f"{out} holds a run that `regard demo` did not make: name another folder with --out")
