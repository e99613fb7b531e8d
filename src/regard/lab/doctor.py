"""The doctor: versions and device, or a recipe, data file or bundle looked at and explained."""

import os
import platform
import statistics
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from regard.bundle.store import find_bundle, load_bundle
from regard.data.config import load_split
from regard.data.corpora import read_tsv
from regard.data.pair import Pair
from regard.lab.describe import describe, describe_model
from regard.text.errors import InputError
from regard.text.words import split_words
from regard.train.recipe import find_recipe, load_recipe

PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu", "pydantic", "matplotlib", "triton", "tensorboard")


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report."""

    mark: str
    text: str

    @property
    def bad(self) -> bool:
        return self.mark == "✗"


def examine(path: Path | None) -> list[Finding]:
    """Look at whatever `path` is; at the machine where there is none."""
    if path is None:
        return _machine()
    try:
        if path.suffix == ".toml" or (not path.exists() and _is_recipe(path)):
            return _recipe(path)
        if path.is_dir():
            return _bundle(path)
        if not path.exists():
            raise InputError(f"{path} does not exist")
        return _data(list(read_tsv(path)))
    except InputError as error:
        return [Finding("✗", str(error))]


def _machine() -> list[Finding]:
    import torch

    findings = [Finding("✓", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")]
    for package in ("regard", *PACKAGES):
        try:
            findings.append(Finding("✓", f"{package} {version(package)}"))
        except PackageNotFoundError:
            findings.append(Finding("·", f"{package} is not installed: {_extra(package)}"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    findings.append(Finding("✓", f"{cores} cores, torch uses {torch.get_num_threads()} threads until training measures"))
    if torch.cuda.is_available():
        findings.append(Finding("✓", f"GPU: {torch.cuda.get_device_name()}, bf16 {torch.cuda.is_bf16_supported()}"))
    else:
        findings.append(Finding("·", "no GPU: training runs on the CPU"))
    findings.append(_font())
    return findings


def _extra(package: str) -> str:
    extras = {"triton": "pip install 'regard[gpu]'", "tensorboard": "pip install 'regard[tensorboard]'"}
    return extras.get(package, "reinstall regard") + " brings it"


def _font() -> Finding:
    from regard.plot.fonts import choose_fonts

    missing = choose_fonts(["लाइट"]).message
    return Finding("·", missing) if missing else Finding("✓", "a font for Devanagari")


def _is_recipe(path: Path) -> bool:
    try:
        find_recipe(str(path))
    except InputError:
        return False
    return True


def _recipe(path: Path) -> list[Finding]:
    recipe = load_recipe(path if path.exists() else str(path))
    findings = [
        Finding("✓", f"a valid recipe{': ' + recipe.description if recipe.description else ''}"),
        Finding("✓", f"model: {describe_model(recipe.model)}"),
        Finding("✓", f"data: {recipe.data.kind}"),
    ]
    split = load_split(recipe.data, "train")
    findings += [Finding("·", note) for note in split.notes]
    return findings + _data(split.pairs)


def _bundle(path: Path) -> list[Finding]:
    bundle = load_bundle(find_bundle(path))
    findings = [Finding("✓", f"{name}: {value}") for name, value in describe(bundle)]
    return [*findings, Finding("✓", "every file matches its checksum, and the weights fit the model")]


def _data(pairs: list[Pair]) -> list[Finding]:
    if not pairs:
        return [Finding("✗", "no pairs")]
    lengths = [(len(split_words(pair.source)), len(split_words(pair.target))) for pair in pairs]
    findings = [Finding("✓", f"{len(pairs):,} pairs")]
    for side, name in enumerate(("source", "target")):
        counts = Counter(word.text for pair in pairs for word in split_words((pair.source, pair.target)[side]))
        words = [length[side] for length in lengths]
        once = sum(count == 1 for count in counts.values())
        findings.append(
            Finding(
                "✓",
                f"{name}: {statistics.mean(words):.1f} words on average, at most {max(words)}; "
                f"{len(counts):,} different words, {once:,} of them once",
            )
        )
    findings += _oddities(pairs, lengths)
    return findings


def _oddities(pairs: list[Pair], lengths: list[tuple[int, int]]) -> list[Finding]:
    repeated = len(pairs) - len({(pair.source, pair.target) for pair in pairs})
    ambiguous = len({pair.source for pair in pairs}) - len({pair.source for pair in pairs} - _several(pairs))
    copied = sum(pair.source == pair.target for pair in pairs)
    lopsided = [i for i, (s, t) in enumerate(lengths) if max(s, t) > 3 * min(s, t) + 5]
    said = [
        (repeated, "pairs stand there more than once: remove them, or they count twice"),
        (ambiguous, "sources have several different targets: no model can get all of them right"),
        (copied, "pairs have a target equal to their source: untranslated lines?"),
        (len(lopsided), "pairs differ in length by more than three to one: misaligned lines?"),
    ]
    findings = [Finding("!", f"{count:,} {what}") for count, what in said if count]
    findings += [Finding(" ", f"  e.g. line {i + 1}: {pairs[i].source!r} → {pairs[i].target!r}") for i in lopsided[:2]]
    return findings


def _several(pairs: list[Pair]) -> set[str]:
    targets: dict[str, set[str]] = {}
    for pair in pairs:
        targets.setdefault(pair.source, set()).add(pair.target)
    return {source for source, found in targets.items() if len(found) > 1}
