"""Scores of the models in the package that translate between English and French.

    python benchmarks/boxed.py BUNDLE … --data ../shared/data --json docs/results/boxed.json

For each bundle (French to English if its path has fr-en in it): BLEU and chrF on Tatoeba's test set, Europarl's test
set and, of both together, the sentences of 15 to 25 words; the share of sentences of TEXT/names.tsv (written by
boxed_data.py) whose names and numbers are all in the translation; and the translations of everyday.tsv and everyday-
new.tsv, to be judged.
`--limit N` scores N sentences of each set, to try it out.
"""

import argparse
import json
import re
import time
from pathlib import Path
from typing import Any

import sacrebleu
import torch

from boxed_data import ROOT, Pair, europarl, read, tatoeba
from regard.runtime.translator import Translator, load


def translate(translator: Translator, sentences: list[str]) -> list[str]:
    return [one.text for one in translator.translate(sentences)]


def score(translator: Translator, pairs: list[Pair]) -> dict[str, Any]:
    found = translate(translator, [source for source, _ in pairs])
    references = [[target for _, target in pairs]]
    return {
        "sentences": len(pairs),
        "bleu": round(sacrebleu.corpus_bleu(found, references).score, 2),
        "chrf": round(sacrebleu.corpus_chrf(found, references).score, 2),
    }


def copied(translator: Translator, rows: list[list[str]], turned: bool) -> dict[str, Any]:
    """How many sentences keep all their names and numbers, and those that do not."""
    sources = [row[1] if turned else row[0] for row in rows]
    found = translate(translator, sources)
    wrong = []
    for row, source, translation in zip(rows, sources, found, strict=True):
        words = re.findall(r"\w+", translation)
        if not all(part in words for part in re.findall(r"\w+", row[2])):
            wrong.append([source, translation, row[2]])
    return {"sentences": len(rows), "right": round(1 - len(wrong) / len(rows), 4), "wrong": wrong}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bundles", type=Path, nargs="+")
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--text", type=Path, default=ROOT / "benchmarks" / "boxed")
    options.add_argument("--limit", type=int)
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--json", type=Path, required=True)
    given = options.parse_args()
    record: dict[str, Any] = json.loads(given.json.read_text(encoding="utf-8")) if given.json.exists() else {}
    sets = {"Tatoeba test": tatoeba(given.data, "test"), "Europarl test": list(europarl(given.data, "test"))}
    sets["15 to 25 words"] = [pair for pairs in sets.values() for pair in pairs if 15 <= len(pair[0].split()) <= 25]
    for bundle in given.bundles:
        translator = load(bundle, device=given.device)
        turned = "fr-en" in str(bundle)
        found: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "scores": {}}
        for name, pairs in sets.items():
            rows = [(french, english) for english, french in pairs] if turned else pairs
            found["scores"][name] = score(translator, rows[: given.limit])
            print(bundle, name, found["scores"][name], flush=True)
        found["names and numbers"] = copied(translator, list(read(given.text / "names.tsv"))[: given.limit], turned)
        print(bundle, "names and numbers", found["names and numbers"]["right"], flush=True)
        language = "fr" if turned else "en"
        ours = {
            "everyday.tsv": [row[1] for row in read(ROOT / "docs/results/everyday.tsv") if row[0] == language],
            "everyday-new.tsv": [row[turned] for row in read(ROOT / "docs/results/everyday-new.tsv")],
        }
        found["translations"] = {
            name: [list(one) for one in zip(lines, translate(translator, lines), strict=True)]
            for name, lines in ours.items()
        }
        record[str(bundle.name)] = found
        given.json.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
