"""The bundle's table of contents: versions, configuration and a checksum for every file, the manifest included."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import regard
from regard.bundle.errors import BundleError
from regard.models.config import ModelConfig

FORMAT = "regard-bundle"
VERSION = 2
"""From version 2 on, the manifest has a checksum of its own, and it lists every file of its folder."""
NAME = "manifest.json"
_BLANK = "0" * 64


class FileEntry(BaseModel):
    """What a file must look like to be the one that was saved."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "FileEntry":
        with path.open("rb") as file:
            return cls(bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())


class Manifest(BaseModel):
    """Later versions of regard read every earlier `version`; a newer one is refused with its number."""

    model_config = ConfigDict(frozen=True)

    format: str = FORMAT
    version: int = VERSION
    regard: str
    torch: str
    model: ModelConfig
    source_vocabulary: int
    target_vocabulary: int
    source_eos: bool
    longest_source: int = Field(description="pieces; longer input is cut, and said")
    search: dict[str, Any] = {}
    recipe: dict[str, Any] = {}
    trained: dict[str, Any] = {}
    files: dict[str, FileEntry]
    sha256: str | None = Field(
        default=None, description="of manifest.json itself, with 64 zeros in this place; null: not checked"
    )


def write_manifest(path: Path, manifest: Manifest) -> Manifest:
    """Write the manifest with its own checksum, which is the last value in the file."""
    before, _, after = manifest.model_copy(update={"sha256": _BLANK}).model_dump_json(indent=2).rpartition(_BLANK)
    sealed = manifest.model_copy(update={"sha256": _digest(before.encode(), after.encode())})
    path.write_text(f"{before}{sealed.sha256}{after}", encoding="utf-8")
    return sealed


def read_manifest(path: Path) -> Manifest:
    """The manifest at `path`, or the reason why it is none that this version of regard can read."""
    try:
        data = path.read_bytes()
        raw = json.loads(data.decode("utf-8"))
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is damaged ({error}): copy the whole bundle again") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise BundleError(
            f"{path} is not a regard manifest: its 'format' is not '{FORMAT}'; name a folder that `regard train` wrote"
        )
    number, writer = raw.get("version"), raw.get("regard", "of unknown version")
    if not isinstance(number, int) or number < 1:
        raise BundleError(f"{path} is damaged (version {number!r} is not a number from 1): copy the whole bundle again")
    if number > VERSION:
        raise BundleError(
            f"{path} has bundle version {number}, written by regard {writer}; this is regard {regard.__version__}, "
            f"which reads up to version {VERSION}: upgrade regard"
        )
    if number > 1:
        _check_seal(path, data, raw)
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        raise BundleError(_why_invalid(path, error, str(writer))) from error


def _check_seal(path: Path, data: bytes, raw: dict[str, Any]) -> None:
    """Refuse a manifest that was changed, unless null in place of its checksum says that somebody meant to."""
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
    where = ".".join(str(part) for part in first["loc"] if part not in ("rnn", "transformer"))
    message = first["msg"].removeprefix("Value error, ")
    if writer != ours:
        return f"{path} was written by regard {writer} and this is {ours}: {where}: {message}; install that version"
    return f"{path} is damaged ({where}: {message}): copy the whole bundle again"
