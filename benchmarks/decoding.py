"""Beam search over the Multi30k test set: ours in batches, the textbook's one sentence at a time, JoeyNMT's in batches.

    python benchmarks/decoding.py [--data DIR] [--sample 8] [--threads 2] [--device cuda] [--rows 256] [--json FILE]
        [--without ENTRY]

Sizes of a Multi30k model (8,000 pieces, embedding 256, GRU 512), random weights whose sentences end by themselves after
some 13 words. The sentences are those of the test set of 2016, cut into 8,000 pieces learned on the training set, where
--data (or REGARD_DATA) has the corpus; random ones of like length otherwise. Systems take turns, group by group.
"""

import argparse
import json
import lzma
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from decoding_joey import measure_joey
from decoding_measure import ROWS, DecodingFigures, measure_decoding
from regard.lab.bench.workload import MULTI30K
from regard.lab.machine import describe_machine
from regard.registry import without
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig


def lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def multi30k(folder: Path) -> list[list[int]] | None:
    if not (folder / "multi30k" / "train.en.xz").exists():
        return None
    learned_on = lines(folder / "multi30k" / "train.en.xz")
    tokenizer = Tokenizer.train(learned_on, TokenizerConfig(kind="bpe", vocabulary=MULTI30K.vocabulary))
    return [
        list(tokenizer.encode(line, eos=True).ids) for line in lines(folder / "multi30k" / "test_2016_flickr.en.xz")
    ]


def show(figures: DecodingFigures) -> None:
    print(
        f"{figures.sentences:,} sentences, beam {figures.beam}, {figures.threads} threads, load {figures.load:.1f}; "
        f"{figures.compared:,} compared: {figures.agreement:.1%} the same words"
    )
    for pace in (figures.other, figures.ours):
        print(
            f"{pace.name:22s} {pace.sentences_per_second:8.1f} sentences/s {pace.tokens_per_second:9.0f} tokens/s "
            f"{pace.latency * 1e3:8.1f} ms for one alone"
        )
    print(f"ratio {figures.ratio:.2f}, time for one alone {figures.latency_ratio:.2f}\n")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("REGARD_DATA", "../shared/data")))
    options.add_argument("--sample", type=int, default=8, help="sentences of each 64 that the textbook decodes")
    options.add_argument("--threads", type=int)
    options.add_argument("--device", default="cpu", help="device of all systems: cpu, cuda")
    options.add_argument("--rows", type=int, default=ROWS, help="sentences decoded together")
    options.add_argument("--json", type=Path)
    options.add_argument("--without", action="append", default=[], help="switch off an accelerated implementation")
    given = options.parse_args()
    sentences = multi30k(given.data)
    print("the Multi30k test set of 2016" if sentences else "random sentences: no Multi30k at --data")
    where: dict[str, Any] = {"threads": given.threads, "device": given.device, "together": given.rows}
    machine = describe_machine(torch.device(given.device))
    with without(*given.without):
        measure(given, sentences, where, machine)


def measure(
    given: argparse.Namespace, sentences: list[list[int]] | None, where: dict[str, Any], machine: dict[str, str]
) -> None:
    """Print and keep the figures against the textbook, then those against JoeyNMT if it is installed."""
    figures = [measure_decoding(MULTI30K, sentences, sample=given.sample, **where)]
    show(figures[0])
    keep(given, machine, figures)
    joey = measure_joey(MULTI30K, sentences, **where)
    if joey is None:
        print("JoeyNMT is not installed: left out")
    else:
        figures.append(joey)
        show(joey)
        keep(given, machine, figures)


def keep(given: argparse.Namespace, machine: dict[str, str], figures: list[DecodingFigures]) -> None:
    if given.json:
        runs = [asdict(one) for one in figures]
        record = {**machine, "device": given.device, "rows": given.rows, "runs": runs}
        given.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
