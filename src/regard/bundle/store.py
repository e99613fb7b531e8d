"""Write a bundle, find it, and read it back with every reason why it might not be one."""

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from regard.bundle.errors import BundleError
from regard.bundle.folder import recover, whole_folder
from regard.bundle.manifest import FORMAT, NAME, VERSION, FileEntry, Manifest
from regard.models.seq2seq import Seq2Seq
from regard.text.tokenizer import Tokenizer

WEIGHTS, SOURCE, TARGET = "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"


@dataclass(frozen=True)
class Bundle:
    """A model with the two tokenizers it was trained with."""

    model: Seq2Seq
    source: Tokenizer
    target: Tokenizer
    manifest: Manifest
    path: Path


def save_bundle(folder: Path, model: Seq2Seq, source: Tokenizer, target: Tokenizer, **about: Any) -> Manifest:
    """Write the folder whole or not at all; `about` fills the manifest (source_eos, longest_source, recipe …)."""
    with whole_folder(folder) as draft:
        return write_bundle(draft, model, source, target, **about)


def write_bundle(draft: Path, model: Seq2Seq, source: Tokenizer, target: Tokenizer, **about: Any) -> Manifest:
    """Write the files of a bundle into a folder that somebody else makes whole."""
    save_file(weights_of(model), draft / WEIGHTS)
    source.save(draft / SOURCE)
    target.save(draft / TARGET)
    manifest = Manifest(
        regard=version("regard"),
        torch=torch.__version__,
        model=model.config,
        source_vocabulary=len(source),
        target_vocabulary=len(target),
        files={name: FileEntry.of(draft / name) for name in (WEIGHTS, SOURCE, TARGET)},
        **about,
    )
    (draft / NAME).write_text(manifest.model_dump_json(indent=2), encoding="utf-8")
    return manifest


def weights_of(model: Seq2Seq) -> dict[str, torch.Tensor]:
    """Each parameter once: tied ones share storage, which safetensors refuses to write twice."""
    seen: dict[int, str] = {}
    weights = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if tensor.data_ptr() not in seen or tensor.numel() == 0:
            seen[tensor.data_ptr()] = name
            weights[name] = tensor.detach().cpu().contiguous()
    return weights


def find_bundle(path: Path) -> Path:
    """The bundle at `path`, or in the run folder at `path`: the best checkpoint, else the last."""
    for candidate in (path, path / "best", path / "last"):
        recover(candidate)
        if (candidate / NAME).is_file():
            return candidate
    if not path.exists():
        raise BundleError(f"no bundle at {path}: there is no such folder")
    if path.is_file():
        raise BundleError(f"no bundle at {path}: this is a file; a bundle is the folder that holds {NAME}")
    raise BundleError(f"no bundle at {path}: neither it nor its best/ or last/ holds a {NAME}")


def load_bundle(path: Path | str, device: torch.device | str = "cpu") -> Bundle:
    """Read a bundle or a run folder; every file is checked against the manifest first."""
    folder = find_bundle(Path(path))
    manifest = _read_manifest(folder / NAME)
    for name, entry in manifest.files.items():
        _check_file(folder / name, entry)
    source, target = Tokenizer.load(folder / SOURCE), Tokenizer.load(folder / TARGET)
    for side, tokenizer, expected in (
        (SOURCE, source, manifest.source_vocabulary),
        (TARGET, target, manifest.target_vocabulary),
    ):
        if len(tokenizer) != expected:
            raise BundleError(f"{folder / side} has {len(tokenizer)} entries, but the model was trained with {expected}")
    model = Seq2Seq(manifest.model, len(source), len(target))
    load_weights(model, folder / WEIGHTS)
    return Bundle(model.to(device).eval(), source, target, manifest, folder)


def load_weights(model: Seq2Seq, path: Path) -> None:
    """Fill a model from a safetensors file that `weights_of` wrote."""
    try:
        weights = load_file(path)
    except (SafetensorError, OSError) as error:
        raise BundleError(f"{path} cannot be read as safetensors: {error}") from error
    missing, unexpected = model.load_state_dict(weights, strict=False)
    tied = set(model.state_dict()) - set(weights_of(model))
    lost = [name for name in missing if name not in tied]
    if lost or unexpected:
        raise BundleError(
            f"{path} holds another model than its manifest describes (missing: {', '.join(lost) or 'nothing'}; "
            f"unexpected: {', '.join(unexpected) or 'nothing'})"
        )


def _read_manifest(path: Path) -> Manifest:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BundleError(f"{path} is damaged: {error}") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise BundleError(f"{path} is not a regard manifest: its 'format' is not '{FORMAT}'")
    if not isinstance(raw.get("version"), int) or raw["version"] > VERSION:
        raise BundleError(
            f"{path} has bundle version {raw.get('version')}, written by regard {raw.get('regard')}; "
            f"this regard reads up to version {VERSION}: upgrade regard"
        )
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BundleError(f"{path} is damaged: {where}: {first['msg']}") from error


def _check_file(path: Path, entry: FileEntry) -> None:
    if not path.is_file():
        raise BundleError(f"{path} is missing: the bundle is incomplete, copy the whole folder again")
    size = path.stat().st_size
    if size != entry.bytes:
        raise BundleError(f"{path} has {size} bytes instead of {entry.bytes}: the copy is truncated, copy it again")
    if FileEntry.of(path).sha256 != entry.sha256:
        raise BundleError(f"{path} is damaged: its checksum differs from the manifest's, copy it again")
