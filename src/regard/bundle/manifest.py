"""The bundle's table of contents: versions, configuration and a checksum for every file."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import regard
from regard.bundle.errors import BundleError
from regard.models.config import ModelConfig

FORMAT = "regard-bundle"
VERSION = 1
NAME = "manifest.json"


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


def read_manifest(path: Path) -> Manifest:
    """The manifest at `path`, or the reason why it is none that this version of regard can read."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
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
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        raise BundleError(_why_invalid(path, error, str(writer))) from error


def _why_invalid(path: Path, error: ValidationError, writer: str) -> str:
    first, ours = error.errors()[0], regard.__version__
    where = ".".join(str(part) for part in first["loc"] if part not in ("rnn", "transformer"))
    message = first["msg"].removeprefix("Value error, ")
    if writer != ours:
        return f"{path} was written by regard {writer} and this is {ours}: {where}: {message}; install that version"
    return f"{path} is damaged ({where}: {message}): copy the whole bundle again"
