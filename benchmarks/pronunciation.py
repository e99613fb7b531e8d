"""Words to phones: CMUdict, and SIGMORPHON 2020's 15 languages with one model that reads the language from a tag.

    export REGARD_DATA=../shared/data
    python benchmarks/pronunciation.py join runs/joined        the 15 languages as one corpus, its recipe beside it
    regard train runs/joined/pronunciation.toml --set train.seed=0 --out runs/joined-0      (and more seeds)
    python benchmarks/pronunciation.py score sigmorphon runs/joined-* --each
    regard train g2p-cmudict --set train.seed=0 --out runs/cmudict-0                        (and more seeds)
    python benchmarks/pronunciation.py score cmudict runs/cmudict-* --each
    python benchmarks/pronunciation.py merge one.json two.json --out docs/results/pronunciation.json

`score` measures the runs together, as an ensemble, and with --each every one alone too; what the file --out holds
already is not measured again. WER is the share of words whose phones are not those of any pronunciation listed, PER the
edits to the nearest one over its phones.
"""

import argparse
import json
import statistics
import time
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import torch

from regard.bundle.bundle_folder import write_whole
from regard.data.catalogue import find_entry
from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.data.tables import CatalogueData
from regard.evaluation import exact_match, wer
from regard.lab.evaluation_data import EvaluationData
from regard.runtime.translator import Translator, load

RECIPE = Path(__file__).with_suffix(".toml")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    join = verbs.add_parser("join")
    join.add_argument("folder", type=Path)
    join.set_defaults(verb=lambda given: join_languages(given.folder))
    score = verbs.add_parser("score")
    score.add_argument("task", choices=TASKS)
    score.add_argument("runs", type=Path, nargs="+")
    score.add_argument("--each", action="store_true", help="every run alone too")
    score.add_argument("--split", choices=("dev", "test"), default="test")
    score.add_argument("--beam", type=int, default=5)
    score.add_argument("--limit", type=int, help="the most words of a language, to try it out")
    score.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    score.add_argument("--out", type=Path, default=Path("docs/results/pronunciation.json"))
    score.set_defaults(verb=score_runs)
    merging = verbs.add_parser("merge")
    merging.add_argument("files", type=Path, nargs="+")
    merging.add_argument("--out", type=Path, required=True)
    merging.set_defaults(verb=merge)
    given = options.parse_args()
    given.verb(given)


def languages() -> tuple[str, ...]:
    return tuple(find_entry("g2p-sigmorphon2020").parts)


def language_pairs(language: str, split: str) -> list[Pair]:
    data = CatalogueData(kind="catalogue", name="g2p-sigmorphon2020", part=language, source="word", target="ipa")
    return list(load_split(data, split).pairs)  # type: ignore[arg-type]


def spelled(language: str, word: str) -> str:
    """The tag and the letters as symbols of their own, syllables and accents taken apart: `<fre> e ́ t e ́`."""
    letters = unicodedata.normalize("NFD", word).replace(" ", "_")
    return " ".join([f"<{language}>", *letters])


def join_languages(folder: Path) -> None:
    """One corpus; its lines go round the languages, so that the first lines of dev are a fair sample."""
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        rows = zip(*([(one, pair) for pair in language_pairs(one, split)] for one in languages()), strict=True)
        lines = [f"{spelled(one, pair.source)}\t{pair.target}\n" for row in rows for one, pair in row]
        write_whole(folder / f"{split}.tsv", "".join(lines))
    write_whole(folder / RECIPE.name, RECIPE.read_text(encoding="utf-8"))


def score_runs(given: argparse.Namespace) -> None:
    """Measure and write after every system."""
    record: dict[str, Any] = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    single = [[run] for run in given.runs] if given.each else []
    for runs in [*single, *([given.runs] if len(given.runs) > 1 or not single else [])]:
        name = " + ".join(run.name for run in runs)
        found = record.setdefault(f"{given.task} {given.split}", {})
        if name in found:
            continue
        started = time.perf_counter()
        translator = load(runs, given.device)
        scores = TASKS[given.task](translator, given)
        about = {"models": len(runs), "beam": given.beam, "seconds": round(time.perf_counter() - started, 1)}
        about["device"] = torch.cuda.get_device_name() if given.device.startswith("cuda") else "CPU"
        about["parameters"] = [one.model.parameters_count for one in translator.bundles]
        found[name] = {**scores, **about, "date": date.today().isoformat()}
        given.out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(given.out, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        print(f"{given.task} {given.split} {name}: WER {scores['wer']:.2f} PER {scores['per']:.2f}", flush=True)


def score_sigmorphon(translator: Translator, given: argparse.Namespace) -> dict[str, Any]:
    """Per cent for each language, and their means."""
    each = {}
    for language in languages():
        pairs = language_pairs(language, given.split)[: given.limit]
        spelled_pairs = [Pair(spelled(language, pair.source), pair.target) for pair in pairs]
        each[language] = rates(translator, EvaluationData.of(spelled_pairs), given.beam)
    means = {rate: round(statistics.fmean(one[rate] for one in each.values()), 2) for rate in ("wer", "per")}
    return {**means, "languages": each}


def score_cmudict(translator: Translator, given: argparse.Namespace) -> dict[str, Any]:
    data = CatalogueData(kind="catalogue", name="g2p-cmudict", source="word", target="phones")
    words = EvaluationData.of(list(load_split(data, given.split).pairs)).grouped()
    return rates(translator, EvaluationData(words.pairs[: given.limit], words.more[: given.limit]), given.beam)


def rates(translator: Translator, words: EvaluationData, beam: int) -> dict[str, Any]:
    written = translator.bundle.target.written
    outputs = [one.text for one in translator.translate([pair.source for pair in words.pairs], beam=beam)]
    listed = [(pair.target, *more) for pair, more in zip(words.pairs, words.more, strict=True)]
    wanted = [[written(one) for one in each] for each in listed]
    wrong = 1 - exact_match(outputs, wanted)
    return {"wer": round(100 * wrong, 2), "per": round(100 * wer(outputs, wanted), 2), "words": len(outputs)}


TASKS: dict[str, Callable[[Translator, argparse.Namespace], dict[str, Any]]] = {
    "sigmorphon": score_sigmorphon,
    "cmudict": score_cmudict,
}


def merge(given: argparse.Namespace) -> None:
    """Write the parts of one record into one file."""
    record: dict[str, Any] = {}
    for file in given.files:
        for title, systems in json.loads(file.read_text(encoding="utf-8")).items():
            record.setdefault(title, {}).update(systems)
    write_whole(given.out, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
