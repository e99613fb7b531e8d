"""Multi30k by the published protocol: train one recipe, choose the search on val, score both tests.

    REGARD_DATA=../shared/data python benchmarks/multi30k.py train multi30k-en-de --set train.seed=1 --json seed-1.json
    python benchmarks/multi30k.py measure runs/multi30k-en-de-1 runs/multi30k-en-de-2 --json ensemble.json
    python benchmarks/multi30k.py distil runs/multi30k-en-de-1 runs/multi30k-en-de-2 --out runs/taught
    python benchmarks/multi30k.py train multi30k-en-de --taught runs/taught --json student.json

`train` skips a finished run and resumes an interrupted one. Several runs given to `measure` are an ensemble. Beam
and length penalty are chosen on val; the tests of 2016 and 2017 are decoded once, with what was chosen. `distil` writes
the training text and, after it, its sources with the translations of the runs that vote (Kim & Rush 2016), as
runs/taught.en and runs/taught.de; a run that is `--taught` reads those instead of the corpus.
"""

import argparse
import json
import time
from datetime import date
from pathlib import Path
from typing import Any

import torch

from regard.bundle.bundle_folder import write_whole
from regard.bundle.store import Bundle
from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.data.tables import CatalogueData
from regard.lab.evaluate_model import Scoring, measure
from regard.runtime import translator as decoding
from regard.runtime.translator import Translator, load
from regard.training.journal import NAME, read_journal
from regard.training.recipe import load_recipe
from regard.training.run import train

SPLITS = {"val": None, "2016": "test_2016_flickr", "2017": "test_2017_flickr"}
PENALTIES = (0.6, 1.0, 1.4)
WIDER = 16
"""64 × this many sentences are decoded together on a GPU: a whole set at once, because steps are launch-bound."""
Record = dict[str, Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(dest="verb", required=True)
    trained, measured, distilled = (verbs.add_parser(name) for name in ("train", "measure", "distil"))
    trained.add_argument("recipe")
    trained.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    trained.add_argument("--run", type=Path, help="the folder of the run (default: runs/ and the name of --json)")
    trained.add_argument("--taught", type=Path, help="what `distil` wrote: train on it instead of the corpus")
    measured.add_argument("runs", type=Path, nargs="+")
    distilled.add_argument("runs", type=Path, nargs="+")
    distilled.add_argument("--out", type=Path, required=True)
    distilled.add_argument("--sentences", type=int, help="of the training text, to try it out")
    for one in (trained, measured):
        one.add_argument("--json", type=Path, required=True)
        one.add_argument("--name", help="the name in tables (default: the name of --json)")
        one.add_argument("--beam", type=int, nargs="+", default=[5])
        one.add_argument("--penalty", type=float, nargs="+", default=PENALTIES)
        one.add_argument("--sentences", type=int, help="of each set, to try it out")
    given = options.parse_args()
    if given.verb == "distil":
        distil(load(given.runs, "cuda" if torch.cuda.is_available() else "cpu"), given.out, given.sentences)
        return
    runs = given.runs if given.verb == "measure" else [given.run or Path("runs") / given.json.stem]
    if given.verb == "train":
        changes = [*given.set, *([] if given.taught is None else taught(given.recipe, given.taught))]
        load_recipe(given.recipe, changes)  # complains before anything is written
        train(given.recipe, runs[0], overrides=changes, resume=(runs[0] / "recipe.json").exists())
        say(f"trained {runs[0]}")
    record = {"name": given.name or given.json.stem, "changes": getattr(given, "set", []), **score(runs, given)}
    given.json.parent.mkdir(parents=True, exist_ok=True)
    write_whole(given.json, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    print(json.dumps({key: record[key] for key in ("name", "search", "scores", "seconds")}), flush=True)


def score(runs: list[Path], given: argparse.Namespace) -> Record:
    """The figures of one run, or of an ensemble of several."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    translator = load(runs, device)
    decoding.WIDER = WIDER
    recipe = translator.bundle.manifest.recipe
    pair = "-".join(languages(translator.bundle))
    began = time.perf_counter()
    tried = [
        {"beam": beam, "length_penalty": penalty} | bleu(translator, "val", given.sentences, beam, penalty)
        for beam in given.beam
        for penalty in given.penalty
    ]
    best = max(tried, key=lambda one: one["bleu"])
    search = {"beam": best["beam"], "length_penalty": best["length_penalty"]}
    say(f"{pair}: val {best['bleu']:.2f} with {search}")
    scores = {"val": best["bleu"]}
    signature = best["signature"]
    for split in ("2016", "2017"):
        scores[split] = bleu(translator, split, given.sentences, search["beam"], search["length_penalty"])["bleu"]
        say(f"{pair}: {split} {scores[split]:.2f}")
    return {
        "pair": pair,
        "model": recipe["model"]["architecture"],
        "members": len(runs),
        "seed": recipe["train"]["seed"] if len(runs) == 1 else None,
        "scores": scores,
        "search": search,
        "tried_on_val": tried,
        "signature": signature,
        "protocol": f"multi30k-{pair[-2:]}",
        "parameters": translator.bundle.model.parameters_count,
        "parameters_each": [bundle.model.parameters_count for bundle in translator.bundles],
        "seconds": {**training_seconds(runs), "decoding": round(time.perf_counter() - began, 1)},
        "recipe": recipe | {"data": anywhere(recipe["data"])},
        "machine": torch.cuda.get_device_name() if device == "cuda" else "CPU",
        "date": date.today().isoformat(),
    }


def anywhere(data: Record) -> Record:
    """The table [data] without the folders of this machine."""
    if data["kind"] != "parallel":
        return data
    return data | {"base": None} | {split: Path(data[split]).name for split in ("train", "dev")}


def bleu(translator: Translator, split: str, sentences: int | None, beam: int, penalty: float) -> Record:
    """Lower-cased tokenised BLEU of a split, and its signature."""
    pairs = corpus(translator.bundle, split)[:sentences]
    protocol = f"multi30k-{languages(translator.bundle)[1]}"
    found = measure(translator, pairs, scoring=Scoring(protocol), beam=beam, length_penalty=penalty).evaluation
    return {"bleu": round(found.bleu, 2), "chrf": round(found.chrf, 2), "signature": found.signatures["bleu"]}


def distil(translator: Translator, prefix: Path, sentences: int | None) -> None:
    """The training text and its sources with their translations, as PREFIX.en and PREFIX.de; val beside it."""
    pairs = corpus(translator.bundle, "train")[:sentences]
    decoding.WIDER = WIDER
    outputs = [one.text for one in translator.translate([pair.source for pair in pairs], beam=5)]
    normal = translator.bundle.target.config.normalise
    same = sum(text == normal(pair.target) for pair, text in zip(pairs, outputs, strict=True))
    taught = [Pair(pair.source, text) for pair, text in zip(pairs, outputs, strict=True) if text.strip()]
    prefix.parent.mkdir(parents=True, exist_ok=True)
    for place, several in ((prefix, [*pairs, *taught]), (beside(prefix), corpus(translator.bundle, "val"))):
        for side, language in zip(("source", "target"), languages(translator.bundle), strict=True):
            write_whole(Path(f"{place}.{language}"), "".join(f"{getattr(pair, side)}\n" for pair in several))
    say(f"{prefix}: {len(pairs) + len(taught):,} pairs; {same:,} translations are the reference")


def beside(prefix: Path) -> Path:
    return prefix.with_name(f"{prefix.name}.val")


def taught(recipe: str, prefix: Path) -> list[str]:
    """The overrides that make a recipe train on other text."""
    data = load_recipe(recipe).model_dump(mode="json")["data"]
    sides = [f"data.{side}={data[side]}" for side in ("source", "target")]
    return ["data.kind=parallel", f"data.train={prefix}", f"data.dev={beside(prefix)}", *sides]


def languages(bundle: Bundle) -> tuple[str, str]:
    data = bundle.manifest.recipe["data"]
    return data["source"], data["target"]


def corpus(bundle: Bundle, split: str) -> list[Pair]:
    """The pairs of a split in the languages of a run, whatever it was trained on."""
    source, target = languages(bundle)
    data = CatalogueData(kind="catalogue", name="multi30k", source=source, target=target, test=SPLITS.get(split))
    return list(load_split(data, {"train": "train", "val": "dev"}.get(split, "test")).pairs)


def training_seconds(runs: list[Path]) -> Record:
    """How long the slowest run trained, its steps, and how fast its median step was."""
    found = []
    for run in runs:
        entries = [one for one in read_journal(run / NAME) if one["event"] == "step"]
        speeds = sorted(one["tokens_per_second"] for one in entries)
        found.append((entries[-1]["seconds"], entries[-1]["step"], speeds[len(speeds) // 2]))
    seconds, steps, speed = max(found)
    return {"training": round(seconds, 1), "steps": steps, "tokens_per_second": round(speed)}


def say(what: str) -> None:
    print(f"{time.strftime('%T')} {what}", flush=True)


if __name__ == "__main__":
    main()
