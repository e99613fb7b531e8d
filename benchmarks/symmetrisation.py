"""Evidence for the default symmetrisation: alignment error on phrasebook gold, and the tuned Hansards runs.

    regard train demo --out runs/en-fr --set train.steps=1600
    regard train demo --out runs/fr-en --set train.steps=1600 --set data.pair=fr-en
    python benchmarks/symmetrisation.py runs/en-fr runs/fr-en        writes docs/results/symmetrisation.json

The phrasebook part aligns without tuning, as a user without gold does: every method on the development set, `product`
with several thresholds, then the test set. The Hansards part counts docs/results/hansards: which method was the best on
`trial` (`chosen`, from rules tuned there), and how `product` compares with grow-diag-final-and on `test`.
"""

import argparse
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from regard.data.splits import load_split
from regard.lab.align_corpus import Direction, align, default_rule, gold_in_words
from regard.lab.parallel import ParallelText
from regard.runtime.aligner import Aligner
from regard.runtime.posterior import Posterior
from regard.runtime.translator import load
from regard.training.recipe import parse_recipe

THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
READ: dict[str, Posterior | None] = {"attention": None, "posterior=0.3 evidence=word": Posterior(0.3, "word")}
RESULTS = Path(__file__).parent.parent / "docs" / "results"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("runs", nargs=2, type=Path, metavar="RUN", help="two phrasebook models, en-fr and fr-en")
    options.add_argument("--out", type=Path, default=RESULTS / "symmetrisation.json")
    given = options.parse_args()
    record = {
        "date": date.today().isoformat(),
        "phrasebook": {name: phrasebook(given.runs, posterior) for name, posterior in READ.items()},
        "hansards": hansards(),
    }
    given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


def phrasebook(runs: list[Path], posterior: Posterior | None) -> dict[str, dict[str, float]]:
    """Alignment error of each method and threshold on the first model's development and test sets, without tuning."""
    bundles = [load(run).bundle for run in runs]
    data = parse_recipe(bundles[0].manifest.recipe).data
    found = {}
    for split in ("dev", "test"):
        pairs = load_split(data, split).pairs
        text = ParallelText.of(pairs)
        aligners = [Aligner(one, posterior=posterior) for one in bundles]
        gold, _ = gold_in_words(aligners[0], text, [pair.links for pair in pairs if pair.links is not None])
        plain = [Direction(aligner, default_rule(aligner.bundle)) for aligner in aligners]
        scores = {name: score.aer for name, score in align(text, *plain).scores(gold).items() if name != "product"}
        for threshold in THRESHOLDS:
            sides = [replace(one, rule=replace(one.rule, threshold=threshold)) for one in plain]
            aligned = align(text, *sides, method="product", every=False)
            scores[f"product {threshold}"] = aligned.scores(gold)["product"].aer
        found[split] = {name: round(aer, 4) for name, aer in scores.items()}
    return found


def hansards() -> dict[str, Any]:
    """What the tuned runs chose on `trial`, and on how many `test` rows `product` has the lower error."""
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((RESULTS / "hansards").glob("*.json"))]
    chosen = [row["chosen"] for row in rows]
    pairs = [[row["scores"][name]["aer"] for name in ("product", "grow-diag-final-and")] for row in rows]
    thresholds = [row["paired_rules"]["forward"]["threshold"] for row in rows if row["chosen"] == "product"]
    return {
        "rows": len(rows),
        "best on trial": {name: chosen.count(name) for name in sorted(set(chosen))},
        "product better than grow-diag-final-and on test": sum(ours < theirs for ours, theirs in pairs),
        "median test error": {
            "product": round(median(ours for ours, _ in pairs), 4),
            "grow-diag-final-and": round(median(theirs for _, theirs in pairs), 4),
        },
        "thresholds of product tuned on trial": {
            "least": min(thresholds), "median": median(thresholds), "largest": max(thresholds),
        },
    }  # fmt: skip


if __name__ == "__main__":
    main()
