"""The bundle's manifest: versions, configuration and a checksum for every file, its own included."""

import hashlib
import os
import re
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import regard
from regard.bounds import MOST, cut, excerpt
from regard.models.model_config import ModelConfig
from regard.reading_files import open_regular, parse_json, read_object, read_regular
from regard.text.input_error import InputError

FORMAT = "regard-bundle"
ONNX_FORMAT = "regard-onnx"
VERSION = 3
"""Version 2 added the manifest's own checksum and the list of all files; version 3 int8 weights and a shared
tokenizer."""
NAME = "manifest.json"
M = TypeVar("M", bound="Manifest")
_BLANK = "0" * 64
_BLOCK = 1 << 20


class BundleError(InputError):
    """A folder that cannot be loaded as a bundle: the message names the file and the remedy."""


class FileEntry(BaseModel):
    """Size and checksum of a file when it was saved."""

    model_config = ConfigDict(frozen=True)

    bytes: int = Field(ge=0, le=MOST["file"])
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @classmethod
    def of(cls, path: Path) -> "FileEntry":
        with open_regular(path) as file:
            size = left = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256()
            while block := file.read(min(left, _BLOCK)):  # not beyond its size: it may be growing
                digest.update(block)
                left -= len(block)
            return cls(bytes=size, sha256=digest.hexdigest())


class Manifest(BaseModel):
    """regard reads every earlier `version` and rejects newer ones."""

    model_config = ConfigDict(frozen=True)

    format: str = FORMAT
    version: int = Field(default=VERSION, le=VERSION)
    regard: str
    torch: str
    model: ModelConfig
    source_vocabulary: int = Field(ge=1, le=MOST["vocabulary"])
    target_vocabulary: int = Field(ge=1, le=MOST["vocabulary"])
    stored: Literal["float", "int8"] = Field(default="float", description="how model.safetensors holds the weights")
    shared_tokenizer: bool = Field(default=False, description="source.tokenizer.json is the target's, too")
    source_eos: bool
    longest_source: int = Field(ge=1, le=MOST["longest"], description="pieces; longer input is cut, with a warning")
    search: dict[str, Any] = {}
    recipe: dict[str, Any] = {}
    trained: dict[str, Any] = {}
    files: dict[str, FileEntry]
    sha256: str | None = Field(
        default=None, description="of manifest.json itself, with 64 zeros in this place; null: not checked"
    )


def write_manifest(path: Path, manifest: M) -> M:
    """Write the manifest with its own checksum, which is the last one in the file."""
    before, _, after = manifest.model_copy(update={"sha256": _BLANK}).model_dump_json(indent=2).rpartition(_BLANK)
    sealed = manifest.model_copy(update={"sha256": _digest(before.encode(), after.encode())})
    path.write_text(f"{before}{sealed.sha256}{after}", encoding="utf-8")
    return sealed


def read_manifest(path: Path) -> Manifest:
    """The manifest at `path`; a BundleError says why this version of regard cannot read it."""
    return read_manifest_as(path, Manifest)


def read_manifest_as(path: Path, kind: type[M]) -> M:
    """The manifest at `path` as a `kind`, which determines its format."""
    wanted = kind.model_fields["format"].default
    try:
        data = read_regular(path)
        raw = parse_json(data, unique=True)
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BundleError(f"{path} is damaged ({error}): copy the whole bundle again") from error
    if isinstance(raw, dict) and raw.get("format") == ONNX_FORMAT != wanted:
        raise BundleError(
            f"{path} belongs to an ONNX folder, which can translate, align and plot; this needs the model itself: "
            "name the bundle that was exported"
        )
    if not isinstance(raw, dict) or raw.get("format") != wanted:
        raise BundleError(
            f"{path} is not a regard manifest: its 'format' is neither '{FORMAT}' nor '{ONNX_FORMAT}'; name a folder "
            "that `regard train` or `regard export` wrote"
        )
    number, writer = raw.get("version"), cut(str(raw.get("regard", "of unknown version")), MOST["quoted"])
    if not isinstance(number, int) or number < 1:
        raise BundleError(
            f"{path} is damaged (version {excerpt(number)} is not a number from 1): copy the whole bundle again"
        )
    if number > VERSION:
        raise BundleError(
            f"{path} has bundle version {excerpt(number)}, written by regard {writer}; "
            f"this is regard {regard.__version__}, which reads up to version {VERSION}: upgrade regard"
        )
    if number > 1 or "sha256" in raw:  # version 1 had no checksum: the version of this one was lowered
        _check_seal(path, data, raw)
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise BundleError(_why_invalid(path, error, writer)) from error


def has_format(folder: Path, format: str) -> bool:
    """Whether the folder has a manifest of this format; False if the manifest is damaged."""
    return bool(read_object(folder / NAME).get("format") == format)


def _check_seal(path: Path, data: bytes, raw: dict[str, Any]) -> None:
    """Raise for a changed manifest, unless its checksum is null, which marks an edit by hand."""
    if "sha256" not in raw:
        raise BundleError(f'{path} is damaged (it has no checksum, the key "sha256"): copy the whole bundle again')
    digest = raw["sha256"]
    if digest is None:
        return
    if isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest):
        before, _, after = data.rpartition(digest.encode())
        if _digest(before, after) == digest:
            return
    raise BundleError(
        f'{path} is not as it was saved (its checksum, the last "sha256", does not match): copy the whole bundle '
        "again; if you edited it yourself, write null in place of that checksum"
    )


def _digest(before: bytes, after: bytes) -> str:
    """The checksum of a manifest, given the bytes before and after the place that holds it."""
    return hashlib.sha256(before + _BLANK.encode() + after).hexdigest()


def _why_invalid(path: Path, error: ValidationError, writer: str) -> str:
    first, ours = error.errors()[0], regard.__version__
    where = cut(".".join(str(part) for part in first["loc"] if part not in ("rnn", "transformer")))
    message = cut(first["msg"].removeprefix("Value error, "), MOST["message"] // 2)
    if writer != ours:
        return f"{path} was written by regard {writer} and this is {ours}: {where}: {message}; install that version"
    return f"{path} is damaged ({where}: {message}): copy the whole bundle again"
