"""Small models for everyday sentences: BLEU and chrF as trained and as int8, and sentences of our own translated.

    export REGARD_DATA=../shared/data
    python benchmarks/everyday.py score runs/tatoeba-en-fr runs/tatoeba-fr-en runs/tatoeba-en-hi
    python benchmarks/everyday.py merge one.json two.json --out docs/results/everyday.json

For each run: the test split of its recipe, one pair at a time and with all references of a sentence together, and the
part of it whose source sentences are not in the training text; the same with weights rounded to int8 (a scale for each
row of a matrix, vectors left in float32) and what they weigh; the sentences of docs/results/everyday.tsv in the run's
language. Everything goes into --out, pictures of --draw beside it; --int8 FOLDER keeps the rounded weights.
"""

import argparse
import json
import time
from datetime import date
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from regard.bundle.bundle_folder import write_whole
from regard.bundle.store import Bundle, load_bundle, weights_of
from regard.data.pair import Pair
from regard.lab.evaluate_model import measure, recipe_pairs
from regard.lab.evaluation_data import EvaluationData
from regard.plot import save
from regard.runtime.translator import Translator


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    score = verbs.add_parser("score")
    score.add_argument("runs", type=Path, nargs="+")
    score.add_argument("--split", choices=("dev", "test"), default="test")
    score.add_argument("--sentences", type=Path, default=Path("docs/results/everyday.tsv"))
    score.add_argument("--draw", type=int, nargs="*", default=[], help="numbers of sentences to draw, from 1")
    score.add_argument("--limit", type=int, help="the most pairs, to try it out")
    score.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    score.add_argument("--int8", type=Path, metavar="FOLDER", help="keep the rounded weights there")
    score.add_argument("--out", type=Path, default=Path("docs/results/everyday.json"))
    score.set_defaults(verb=score_runs)
    merging = verbs.add_parser("merge")
    merging.add_argument("files", type=Path, nargs="+")
    merging.add_argument("--out", type=Path, required=True)
    merging.set_defaults(verb=merge)
    given = options.parse_args()
    given.verb(given)


def score_runs(given: argparse.Namespace) -> None:
    """Measure and write after every run; runs that the file already holds are skipped."""
    record: dict[str, Any] = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    for run in given.runs:
        name = f"{run.name} {given.split}"
        if name in record:
            continue
        record[name] = report(run, given)
        write_whole(given.out, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        plain = record[name]["scores"]["as trained"]
        print(f"{name}: BLEU {plain['bleu']:.2f} chrF {plain['chrf']:.2f}", flush=True)


def merge(given: argparse.Namespace) -> None:
    """Write the parts of one record into one file."""
    record: dict[str, Any] = {}
    for file in given.files:
        record |= json.loads(file.read_text(encoding="utf-8"))
    write_whole(given.out, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def report(run: Path, given: argparse.Namespace) -> dict[str, Any]:
    started = time.perf_counter()
    bundle = load_bundle(run, given.device)
    pairs = list(recipe_pairs(bundle, given.split).pairs)[: given.limit]
    known = {pair.source for pair in recipe_pairs(bundle, "train").pairs}
    fresh = [pair for pair in pairs if pair.source not in known]
    scores = {"as trained": rate(bundle, pairs), "all references": rate(bundle, pairs, group=True)}
    if len(fresh) < len(pairs):
        scores["sources not in the training text"] = rate(bundle, fresh)
    sentences = translate_own(bundle, given) if given.split == "test" else []
    size = round_to_int8(bundle, given.int8 / f"{run.name}.safetensors" if given.int8 else None)
    scores["int8"] = rate(bundle, pairs)
    return {
        "scores": scores,
        "parameters": bundle.model.parameters_count,
        "int8 bytes": size,
        "pieces": [len(bundle.source), len(bundle.target)],
        "device": torch.cuda.get_device_name() if given.device.startswith("cuda") else "CPU",
        "seconds": round(time.perf_counter() - started, 1),
        "date": date.today().isoformat(),
        "sentences": sentences,
    }


def rate(bundle: Bundle, pairs: list[Pair], group: bool = False) -> dict[str, Any]:
    data = EvaluationData.of(pairs)
    data = data.grouped() if group else data
    found = measure(Translator(bundle), data.pairs, more=data.more).evaluation
    return {"sentences": found.sentences, "bleu": round(found.bleu, 2), "chrf": round(found.chrf, 2)} | (
        {} if group else {"exact": round(100 * found.exact_match, 1), "signature": found.signatures["bleu"]}
    )


def translate_own(bundle: Bundle, given: argparse.Namespace) -> list[dict[str, str]]:
    """Our own sentences in the language that the model reads, those of --draw as heat-maps too."""
    data = bundle.manifest.recipe["data"]
    rows = [line.split("\t") for line in given.sentences.read_text(encoding="utf-8").splitlines()]
    texts = [text for language, text in rows if language == data["source"]]
    found = Translator(bundle).translate(texts)
    for number in given.draw:
        if number <= len(found):
            path = given.out.with_name(f"everyday-{data['source']}-{data['target']}-{number}.png")
            save(found[number - 1].plot(words=True), path)
    return [{"source": text, "target": one.text} for text, one in zip(texts, found, strict=True)]


@torch.no_grad()
def round_to_int8(bundle: Bundle, keep: Path | None) -> int:
    """Put rounded weights into the model; the bytes that they take: int8 matrices, float32 scales and vectors."""
    stored: dict[str, Tensor] = {}
    for name, weight in weights_of(bundle.model).items():
        if weight.dim() < 2:
            stored[name] = weight.float()
            continue
        scale = weight.abs().amax(dim=-1, keepdim=True).clamp(min=1e-12) / 127
        small = torch.round(weight / scale).to(torch.int8)
        bundle.model.get_parameter(name).copy_(small * scale)
        stored |= {name: small, f"{name}.scale": scale.squeeze(-1)}
    if keep is not None:
        keep.parent.mkdir(parents=True, exist_ok=True)
        save_file(stored, keep)
    return sum(one.numel() * one.element_size() for one in stored.values())


if __name__ == "__main__":
    main()
