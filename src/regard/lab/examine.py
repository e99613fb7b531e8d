"""`regard doctor`: checks this machine, a recipe, data or a bundle."""

import os
import platform
import shutil
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from regard.bundle.find import pretrained_names
from regard.bundle.manifest import NAME as MANIFEST
from regard.bundle.store import Bundle, check_files
from regard.data.catalogue import catalogue
from regard.data.pair import Pair
from regard.data.pipeline import open_training, train_tokenizers
from regard.data.splits import Corpus, StoredSplit, load_split
from regard.data.tables import TsvData
from regard.lab.data_check import Advance, check_corpus, check_file, check_folder
from regard.lab.describe import describe, describe_model
from regard.lab.finding import Finding
from regard.lab.survey import Survey, check_overlap
from regard.lab.table_check import check_table
from regard.models.seq2seq import Seq2Seq, outline
from regard.runtime.onnx_folder import is_onnx, load_any
from regard.suggest import suggest
from regard.text.input_error import InputError
from regard.text.special import UNK
from regard.training.journal import NAME as JOURNAL
from regard.training.journal import read_journal
from regard.training.recipe import Recipe, find_recipe, load_recipe, recipe_names
from regard.training.run_folder import own_classes

PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu", "pydantic", "matplotlib", "rich", "typer")
EXTRAS = {
    "triton": "gpu", "tensorboard": "tensorboard", "pyarrow": "data", "datasets": "data",
    "onnx": "onnx", "onnxruntime": "onnx",
}  # fmt: skip


def examine(
    path: Path | None, other: Path | None = None, advance: Advance | None = None, trust: Collection[str] = ()
) -> list[Finding]:
    """Check whatever `path` is, two parallel files, or the machine; `trust` names classes that a bundle may import."""
    if path is None:
        return _machine()
    try:
        if other is not None:
            return check_file(path, other, advance)
        if path.is_dir():
            return _bundle(path, trust) if _holds_run(path) else check_folder(path, advance)
        if str(path) in pretrained_names() and not path.exists():
            return _bundle(path, trust)
        if path.suffix == ".toml" or not path.exists():
            known = catalogue()
            corpus = str(path) in known and str(path) not in recipe_names()  # the check of a recipe includes its corpus
            return check_corpus(known[str(path)], advance) if corpus else _recipe(path, advance, trust)
        if not path.is_file():
            raise InputError(f"{path} is neither a file nor a folder: there is nothing to check")
        return check_file(path, advance=advance)
    except InputError as error:
        return [Finding("✗", str(error))]


def _holds_run(folder: Path) -> bool:
    """Whether the folder holds files of a bundle or run."""
    names = (MANIFEST, "recipe.json", "model.safetensors")
    return any((place / name).exists() for place in (folder, folder / "best", folder / "last") for name in names)


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
                findings.append(Finding("·", f"{package} is not installed: pip install 'regard[{extra}]' installs it"))
    from regard.data.worker_pool import count_cores

    findings.append(Finding("✓", f"{count_cores()} cores; torch uses {torch.get_num_threads()} threads"))
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

    missing = choose_fonts(["लाइट", "かな", "한글"]).message
    return Finding("·", missing) if missing else Finding("✓", "fonts for Devanagari, kana and Hangul")


def _nothing(path: Path) -> str:
    """The message for a missing path: with the nearest file name, or the nearest recipe or corpus."""
    if not path.suffix and os.sep not in str(path):
        names = sorted({*recipe_names(), *catalogue(), *pretrained_names()})
        return f"no file, folder, corpus, recipe or model '{path}': {suggest(str(path), names, 'names')}"
    beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return f"no file or folder {path}: {suggest(path.name, beside, otherwise=f'nothing like it in {path.parent}')}"


def _recipe(path: Path, advance: Advance | None, trust: Collection[str]) -> list[Finding]:
    if not path.exists() and str(path) not in recipe_names():
        raise InputError(_nothing(path))
    recipe = load_recipe(find_recipe(str(path)))
    train = open_training(recipe.data)
    made_up = isinstance(train, Corpus)
    notes = list(train.notes) if isinstance(train, Corpus) else []
    pairs = train.pairs if isinstance(train, Corpus) else train.pairs(notes)
    survey = Survey(((f"pair {number}", pair) for number, pair in enumerate(pairs, 1)), advance)
    findings = [
        Finding("✓", f"a valid recipe{': ' + recipe.description if recipe.description else ''}"),
        Finding("✓", f"model: {describe_model(recipe.model)}"),
        Finding("✓", f"data: {recipe.data.kind}"),
        *(Finding("·", note) for note in notes),
        *(survey.sizes() if made_up else survey.findings()),
    ]
    if isinstance(recipe.data, TsvData) and recipe.data.columns is None:
        findings += check_table(recipe.data.base / recipe.data.train).findings
    held_out = {split: load_split(recipe.data, split).pairs for split in ("dev", "test")}
    for split, found in held_out.items():
        findings += check_overlap(survey, found, split)
    named = own_classes([recipe], path, trust=trust)
    return [*findings, *_fit(recipe, train, held_out["dev"], named)]


def _fit(recipe: Recipe, train: Corpus | StoredSplit, dev: list[Pair], trust: Collection[str]) -> list[Finding]:
    """Whether the model can be built for this data and trained here, and the share of unknown pieces."""
    import torch

    source, target = train_tokenizers(train, recipe.text)
    findings = [Finding("✓", f"vocabulary {len(source):,} → {len(target):,}")]
    for name, tokenizer, texts in (
        ("source", source, [pair.source for pair in dev]),
        ("target", target, [pair.target for pair in dev]),
    ):
        ids = [number for text in texts for number in tokenizer.encode_ids(text)]
        unknown = ids.count(UNK) / max(1, len(ids))
        if unknown:
            findings.append(
                Finding("·" if unknown < 0.02 else "!", f"dev: {unknown:.2%} of the {name} is unknown to it")
            )
    try:
        model = outline(recipe.model, len(source), len(target), trust=trust)
        findings.append(Finding("✓", f"{model.parameters_count:,} parameters"))
    except ValueError as error:
        findings.append(Finding("✗", f"model: {error}"))
    if recipe.train.device.startswith("cuda") and not torch.cuda.is_available():
        findings.append(Finding("✗", f"train.device is {recipe.train.device!r}, and there is no GPU here"))
    return findings


def _bundle(path: Path, trust: Collection[str]) -> list[Finding]:
    bundle = load_any(path, trust=trust)
    for folder in dict.fromkeys((bundle.path, path / "last")):
        if (folder / MANIFEST).exists() and not is_onnx(folder):  # loading an ONNX folder checks every file
            check_files(folder)
    findings = [Finding("✓", f"{name}: {value}") for name, value in describe(bundle)]
    findings += _weights(bundle)
    if bundle.path == path / "best" and not (path / "last").exists():
        findings += _lost_checkpoint(path)
    return [*findings, Finding("✓", "every file matches its checksum, and the weights fit the model")]


def _lost_checkpoint(run: Path) -> list[Finding]:
    """A finding where the run has no checkpoint and did not reach its end."""
    reasons = [entry.get("reason") for entry in read_journal(run / JOURNAL) if entry["event"] == "finished"]
    if reasons and reasons[-1] != "interrupted":
        return []
    remedy = f"start a new run with these weights: --out NEW --set train.start_from={run}"
    return [Finding("!", "the checkpoint last/ is missing: this run cannot be resumed", (), remedy)]


def _weights(bundle: Bundle[Any]) -> list[Finding]:
    """An error where weights are NaN or infinite: checksums match, since training itself wrote them."""
    if not isinstance(bundle.model, Seq2Seq):
        return []
    broken = [(name, int((~one.isfinite()).sum()), one.numel()) for name, one in bundle.model.named_parameters()]
    count, total = sum(wrong for _, wrong, _ in broken), sum(size for *_, size in broken)
    if not count:
        return []
    some = tuple(f"{name}: {wrong:,} of {size:,}" for name, wrong, size in broken if wrong)
    return [
        Finding(
            "✗",
            f"{count:,} of {total:,} weights are NaN or infinite: this model cannot translate",
            some[:3],
            "training diverged: train again with a lower train.learning_rate, or with train.clip = 1.0; a checkpoint "
            "from before it, or another copy of the bundle, may be sound",
        )
    ]
