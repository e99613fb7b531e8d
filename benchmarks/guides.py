"""The figures in docs/guides/alignment.md: mechanisms compared, and guided alignment. Two cores, about six minutes.

    OMP_NUM_THREADS=1 python benchmarks/guides.py FOLDER --json docs/results/guides.json

Runs the commands of the guide in FOLDER.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FIGURES = ("bleu", "exact_match", "aer", "entropy", "parameters")
SHORT = ("--set", "train.steps=700", "--set", "data.train=20000")


def regard(*words: str | Path) -> str:
    done = subprocess.run([sys.executable, "-m", "regard", *map(str, words)], check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def comparison(folder: Path) -> dict[str, Any]:
    regard("compare", Path(__file__).with_name("guide-comparison.toml"), "--jobs", "2", "--out", folder / "compared")
    report = json.loads((folder / "compared" / "report.json").read_text(encoding="utf-8"))
    variants = {}
    for variant in report["variants"]:
        shifts = [run["aer_by_shift"] for run in variant["runs"]]
        variants[variant["name"]] = {
            "figures": {name: variant["figures"][name] for name in FIGURES if variant["figures"].get(name)},
            "aer by shift": {shift: [one[shift] for one in shifts] for shift in shifts[0]} if shifts[0] else None,
        }
    return {**report["machine"], "variants": variants}


def guided(folder: Path) -> dict[str, Any]:
    forward, backward, taught = (folder / name for name in ("en-fr", "fr-en", "guided"))
    regard("train", "demo", *SHORT, "--out", forward)
    regard("train", "demo", *SHORT, "--set", "data.pair=fr-en", "--out", backward)
    together = ("--reverse", backward, "--tune", "--set", "longest_source=30")
    links = folder / "guide.align"
    regard("align", forward, *together, "--split", "train", "--output", links)
    guide = ("--set", "train.guide.weight=0.3", "--set", f"train.guide.links={links.resolve()}")
    regard("train", "demo", *SHORT, *guide, "--out", taught)
    found = {}
    for run in (forward, taught):
        aligned = json.loads(regard("align", run, *together, "--json", "--output", folder / f"{run.name}.align"))
        scores = json.loads(regard("evaluate", run, "--json"))
        found[run.name] = {
            "aer alone": aligned["scores"]["forward"]["aer"],
            "aer together": aligned["scores"][aligned["chosen"]]["aer"],
            "entropy": scores["entropy"],
            "bleu": scores["bleu"],
        }
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--json", type=Path, required=True)
    given = options.parse_args()
    record = {"comparison": comparison(given.folder), "guided": guided(given.folder)}
    given.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
