"""The doctor: versions and device, or a recipe, data file or bundle looked at and explained."""

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from regard.bundle.store import load_bundle
from regard.data.config import load_split
from regard.lab.data_check import Finding, check_file, check_overlap, check_pairs, check_sizes
from regard.lab.describe import describe, describe_model
from regard.text.errors import InputError
from regard.train.recipe import Recipe, find_recipe, load_recipe

PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu", "pydantic", "matplotlib", "rich", "typer")
EXTRAS = {"triton": "gpu", "tensorboard": "tensorboard"}


def examine(path: Path | None) -> list[Finding]:
    """Look at whatever `path` is; at the machine where there is none."""
    if path is None:
        return _machine()
    try:
        if path.is_dir():
            return _bundle(path)
        if path.suffix == ".toml" or not path.exists():
            return _recipe(path)
        if not path.is_file():
            raise InputError(f"{path} is neither a file nor a folder: there is nothing to look at")
        return check_file(path)
    except InputError as error:
        return [Finding("✗", str(error))]


def _machine() -> list[Finding]:
    import torch

    findings = [Finding("✓", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")]
    for package in ("regard", *PACKAGES, *EXTRAS):
        try:
            findings.append(Finding("✓", f"{package} {version(package)}"))
        except PackageNotFoundError:
            extra = EXTRAS.get(package)
            if extra is None:
                findings.append(Finding("✗", f"{package} is not installed: pip install --force-reinstall regard"))
            else:
                findings.append(Finding("·", f"{package} is not installed: pip install 'regard[{extra}]' brings it"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    findings.append(Finding("✓", f"{cores} cores; torch uses {torch.get_num_threads()} threads"))
    if torch.cuda.is_available():
        precision = "bf16" if torch.cuda.is_bf16_supported() else "no bf16"
        findings.append(Finding("✓", f"GPU: {torch.cuda.get_device_name()}, {precision}"))
    else:
        findings.append(Finding("·", "no GPU: training runs on the CPU"))
    return [*findings, _disk(), _font()]


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    if free < 2e8:
        return Finding("!", f"only {free / 1e6:.0f} MB free in {Path.cwd()}: a run may not fit")
    return Finding("✓", f"{free / 1e9:.1f} GB free in {Path.cwd()}")


def _font() -> Finding:
    from regard.plot import choose_fonts

    missing = choose_fonts(["लाइट"]).message
    return Finding("·", missing) if missing else Finding("✓", "a font for Devanagari")


def _recipe(path: Path) -> list[Finding]:
    if not path.exists() and (path.suffix == ".toml" or os.sep in str(path)):
        raise InputError(f"no file or folder {path}")
    recipe = load_recipe(find_recipe(str(path)))
    train = load_split(recipe.data, "train")
    findings = [
        Finding("✓", f"a valid recipe{': ' + recipe.description if recipe.description else ''}"),
        Finding("✓", f"model: {describe_model(recipe.model)}"),
        Finding("✓", f"data: {recipe.data.kind}"),
        *(Finding("·", note) for note in train.notes),
        *(check_pairs if recipe.data.kind in ("tsv", "parallel") else check_sizes)(train.pairs),
    ]
    for split in ("dev", "test"):
        findings += check_overlap(train.pairs, load_split(recipe.data, split).pairs, split)
    return [*findings, *_fit(recipe, [pair.source for pair in train.pairs], [pair.target for pair in train.pairs])]


def _fit(recipe: Recipe, sources: list[str], targets: list[str]) -> list[Finding]:
    """Whether the model can be built for this data and computed here."""
    import torch

    from regard.models.seq2seq import Seq2Seq
    from regard.text.tokenizer import Tokenizer

    text = recipe.text
    if text.joint:
        both = Tokenizer.train([*sources, *targets], text.source)
        source, target = both, both
    else:
        source, target = Tokenizer.train(sources, text.source), Tokenizer.train(targets, text.target)
    findings = [Finding("✓", f"vocabulary {len(source):,} → {len(target):,}")]
    try:
        with torch.device("meta"):
            model = Seq2Seq(recipe.model, len(source), len(target))
        findings.append(Finding("✓", f"{model.parameters_count:,} parameters"))
    except ValueError as error:
        findings.append(Finding("✗", f"model: {error}"))
    if recipe.train.device.startswith("cuda") and not torch.cuda.is_available():
        findings.append(Finding("✗", f"train.device is {recipe.train.device!r}, and there is no GPU here"))
    return findings


def _bundle(path: Path) -> list[Finding]:
    findings = [Finding("✓", f"{name}: {value}") for name, value in describe(load_bundle(path))]
    return [*findings, Finding("✓", "every file matches its checksum, and the weights fit the model")]
