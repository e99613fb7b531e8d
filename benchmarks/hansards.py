"""Alignment error of every mechanism on the Hansards: both directions, symmetrised, then taught by their own links.

    python benchmarks/hansards.py additive-input general-output …      plain: train both directions, tune, score
    python benchmarks/hansards.py --rounds 2 additive-output           … then taught by their own links, twice
    python benchmarks/hansards.py --rounds 1 --links RUN dot-output    … taught by the links of another pair of models

For each name of VARIANTS two models are trained side by side, aligned with rules tuned on `trial`, and scored on
`test`; with --rounds, symmetrised links of the training text teach them (train.guide), and they are scored again. Every
stage leaves OUT/NAME.round.json and is skipped where that exists; a training that was cut short goes on. Wants a GPU;
--small is for a test on the CPU.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.lab.align_job import AlignOutcome
    from regard.runtime.posterior import Posterior

COMMAND = [sys.executable, "-m", "regard"]
RECIPES = Path(__file__).parent
DIRECTIONS = ("en-fr", "fr-en")
OUTPUT = ["model.placement=output"]
FED = [*OUTPUT, "model.input_feeding=true", "model.readout=attentional"]
DOT = ["model.encoder_units=256"]
TRANSFORMER = ["model.preset=transformer", "model.size=small", "train.betas=[0.9,0.98]"]

VARIANTS: dict[str, list[str]] = {
    "additive-input": [],
    "additive-output": OUTPUT,
    "additive-output-fed": ["model.score=additive", *FED],
    "dot-output": ["model.score=dot", *OUTPUT, *DOT],
    "general-input": ["model.score=general"],
    "general-output": ["model.score=general", *OUTPUT],
    "general-output-fed": ["model.score=general", *FED],
    "concat-output": ["model.score=concat", *OUTPUT],
    "local-m-output": ["model.score=general", "model.window=local-m", *OUTPUT],
    "local-p-output": ["model.score=general", "model.window=local-p", *OUTPUT],
    "multi-head-output": ["model.score=multi-head", "model.heads=8", *OUTPUT],
    "transformer": TRANSFORMER,
}
WORDS = ["text.kind=word", "text.vocabulary=40000"]
BUDGET = ["train.batch_tokens=16000", "train.warmup=200", "train.validate_every=100000"]
"""The last weights are kept: the loss on 37 pairs is too noisy to choose others."""
SMALL = ["model.size=tiny", "data.limit=400", "text.vocabulary=600", "train.batch_tokens=1000"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(VARIANTS)}")
    options.add_argument("--label", default="", help="added to the names of results and runs")
    options.add_argument("--steps", type=int, default=800, help="of plain training")
    options.add_argument("--rounds", type=int, default=0, help="rounds of guided training")
    options.add_argument("--guided-steps", type=int, default=300, help="of each round")
    options.add_argument("--guided-pairs", type=int, default=100_000, help="training pairs that are linked and guided")
    options.add_argument("--weight", type=float, default=2.0, help="of the links in training")
    options.add_argument(
        "--links",
        help="a run, or a folder of links.en-fr and links.fr-en, whose links guide round 1 (default: their own)",
    )
    about = "also read links as regard align --set posterior=X does, where it can be; trial chooses"
    options.add_argument("--posterior", type=float, action="append", default=[], metavar="X", help=about)
    options.add_argument("--evidence", action="append", default=[], choices=["state", "word"], help="of --posterior")
    options.add_argument("--first-label", help="begin with round 0 of this label, trained by another process")
    options.add_argument("--patience", type=int, default=400, help="seconds to wait for the links of that run")
    options.add_argument("--words", action="store_true", help="whole words instead of BPE pieces")
    options.add_argument("--set", action="append", default=[], help="further keys for all runs")
    options.add_argument("--looks", action="store_true", help="keep attention between the words of trial and test")
    options.add_argument("--runs", type=Path, default=Path(os.environ.get("RUNS", "runs")) / "hansards")
    options.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "docs/results")) / "hansards")
    options.add_argument("--device", default="cuda")
    options.add_argument("--small", action="store_true", help="tiny models, few steps, few pairs")
    given = options.parse_args()
    for name in given.names if given.first_label is None else ():
        stage(f"{name}{given.label}.0", {key: plain_keys(name, given) for key in DIRECTIONS}, given)
    for name in given.names:
        for number in range(1, given.rounds + 1):
            teach(name, number, given)


def plain_keys(name: str, given: argparse.Namespace) -> list[str]:
    """The keys that differ from the recipe."""
    keys = [*BUDGET, *VARIANTS[name], *(WORDS if given.words else []), f"train.device={given.device}"]
    if given.small:
        keys = [key for key in keys if "units" not in key] + SMALL
        keys += ["model.encoder_units=48"] if "dot" in name else []
    return [*keys, *given.set, f"train.steps={given.steps}"]


def teach(name: str, number: int, given: argparse.Namespace) -> None:
    """The next round: the models are trained further, guided by links of the training text."""
    full = name + given.label
    before = given.runs / f"{full}.{number - 1}"
    if number == 1 and given.first_label is not None:
        before = given.runs / f"{name}{given.first_label}.0"
        wait_for(given.out / f"{before.name}.json", given)
    others = given.links is not None and number == 1
    teacher = given.runs / given.links if others else before
    links = wait_for_links(teacher, given) if others else own_links(teacher, given)
    if links is None:
        say(f"{full}: no links in {teacher}")
        return
    keys = {}
    for direction, path in zip(DIRECTIONS, links, strict=True):
        # At the output, and in a Transformer, the query of the next step has read the word.
        shift = int(not name.endswith("input"))
        guide = {"weight": given.weight, "links": path, "shift": shift}
        train = {"start_from": before / direction, "steps": given.guided_steps, "learning_rate": 5e-4, "warmup": 50}
        keys[direction] = [
            *plain_keys(name, given),
            *(f"train.guide.{key}={value}" for key, value in guide.items()),
            *(f"train.{key}={value}" for key, value in train.items()),
            f"data.limit={given.guided_pairs}",
        ]
    stage(f"{full}.{number}", keys, given)


def stage(name: str, keys: dict[str, list[str]], given: argparse.Namespace) -> None:
    """Train both directions side by side, tune on trial, score on test, write the result."""
    result = given.out / f"{name}.json"
    if result.exists():
        say(f"{name}: measured already")
        return
    began = time.time()
    running = [start_training(given.runs / name / direction, direction, keys[direction]) for direction in DIRECTIONS]
    if any(one.wait() for one in running):
        raise SystemExit(f"{name}: training failed")
    trained = time.time()
    say(f"{name}: trained in {trained - began:.0f} s")
    readings = {
        posterior: align(given.runs / name, "test", given, posterior) for posterior in ways(given.runs / name, given)
    }
    best = min(readings, key=lambda posterior: readings[posterior].development or 1.0)
    record = readings[best].json()
    shown = {direction: [key.replace(str(given.runs), "runs") for key in some] for direction, some in keys.items()}
    record |= {"name": name, "posterior": None if best is None else asdict(best)}
    record["readings"] = {
        "attention" if posterior is None else f"posterior {posterior.prior:g}, {posterior.evidence}": {
            "development": one.development,
            "chosen": one.aligned.chosen,
            "aer": {way: score.aer for way, score in (one.scores or {}).items()},
        }
        for posterior, one in readings.items()
    }
    record |= {"keys": shown, "date": date.today().isoformat(), "device": device_name(given.device)}
    record["seconds"] = {"train": round(trained - began, 1), "align": round(time.time() - trained, 1)}
    given.out.mkdir(parents=True, exist_ok=True)
    if given.looks:
        keep_looks(given.runs / name, given.out / f"{name}.npz", record, given)
    partial = result.with_suffix(".partial")
    partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    partial.replace(result)
    say(f"{name}: " + ", ".join(f"{way} {score['aer']:.4f}" for way, score in record["scores"].items()))


def start_training(folder: Path, direction: str, keys: list[str]) -> "subprocess.Popen[bytes]":
    """Train, or resume an interrupted run; a no-op if it is complete."""
    command = [*COMMAND, "train", str(RECIPES / f"hansards-{direction}.toml"), "--out", str(folder)]
    command += [word for key in keys for word in ("--set", key)]
    if (folder / "last").exists():
        command.append("--resume")
    elif folder.exists():
        command.append("--overwrite")
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def align(
    models: Path, split: str, given: argparse.Namespace, posterior: "Posterior | None", most: int | None = None
) -> "AlignOutcome":
    """Both directions with rules tuned on trial."""
    from regard.lab.align_job import prepare, run
    from regard.lab.align_settings import AlignOptions, AlignRequest

    forward, backward = (models / direction for direction in DIRECTIONS)
    options = (
        AlignOptions()
        if posterior is None
        else AlignOptions.model_validate({"posterior": posterior.prior, "evidence": posterior.evidence})
    )
    job = prepare(AlignRequest(forward, options, backward, split=split, tune=True, device=given.device))
    if most is not None:
        job = replace(job, text=job.text.first(most), gold=None)
    return run(job)


def ways(models: Path, given: argparse.Namespace) -> "list[Posterior | None]":
    """Attention itself, and the requested posteriors if the model has one head."""
    from regard.runtime.posterior import Posterior

    if models.name.startswith(("transformer", "multi-head")):
        return [None]
    return [None, *(Posterior(prior, each) for each in given.evidence or ["state"] for prior in given.posterior)]


def best_way(record: dict[str, Any]) -> "Posterior | None":
    from regard.runtime.posterior import Posterior

    return None if record["posterior"] is None else Posterior(**record["posterior"])


def own_links(models: Path, given: argparse.Namespace) -> tuple[Path, Path]:
    """The symmetrised links of the training text, once for each direction."""
    from regard.alignment import Links, format_pharaoh
    from regard.files import write_whole

    paths = link_files(models)
    if not paths[1].exists():
        began = time.time()
        record = json.loads((given.out / f"{models.name}.json").read_text(encoding="utf-8"))
        found = align(models, "train", given, best_way(record), given.guided_pairs).aligned.links
        for path, flip in zip(paths, (False, True), strict=True):
            each = (Links.of({(t, s) for s, t in links} if flip else links) for links in found)
            write_whole(path, "".join(format_pharaoh(links) + "\n" for links in each))
        say(f"{models.name}: {found.links:,} links of the training text in {time.time() - began:.0f} s")
    return paths


def link_files(models: Path) -> tuple[Path, Path]:
    return models / "links.en-fr", models / "links.fr-en"


def wait_for_links(models: Path, given: argparse.Namespace) -> tuple[Path, Path] | None:
    """The links of models that another process trains; None after the timeout."""
    paths = link_files(models)
    return paths if wait_for(paths[1], given) else None


def wait_for(path: Path, given: argparse.Namespace) -> bool:
    """Whether another process wrote this file in time."""
    until = time.time() + given.patience
    while not path.exists() and time.time() < until:
        time.sleep(1)
    return path.exists()


def keep_looks(models: Path, path: Path, record: dict[str, Any], given: argparse.Namespace) -> None:
    """Attention between words of trial and test, with each direction's tuned heads and row, for study."""
    import numpy as np

    from regard.alignment import LinkRule
    from regard.lab.evaluate_model import recipe_pairs
    from regard.runtime.aligner import Aligner
    from regard.runtime.translator import load

    arrays = {}
    for direction, side in zip(DIRECTIONS, ("forward", "backward"), strict=True):
        rule = record["rules"][side]
        rule = LinkRule(tuple(tuple(head) for head in rule["heads"]), rule["shift"])
        bundle = load(models / direction, given.device).bundle
        for split in ("dev", "test"):
            pairs = recipe_pairs(bundle, split).pairs
            aligner = Aligner(bundle, posterior=best_way(record))
            looks = dict(aligner.look([pair.source for pair in pairs], [pair.target for pair in pairs]))
            for number, look in looks.items():
                matrix = rule.matrix(look.between_words(rule.shift))
                arrays[f"{side}.{split}.{number}"] = np.round(matrix, 3).astype(np.float16)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def device_name(device: str) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def say(what: str) -> None:
    print(time.strftime("%T"), what, flush=True)


if __name__ == "__main__":
    main()
