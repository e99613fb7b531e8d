"""The bundle's table of contents: versions, configuration and a checksum for every file."""

import hashlib
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import regard
from regard.bounds import MOST, cut, excerpt
from regard.bundle.errors import BundleError
from regard.files import open_regular, read_json
from regard.models.config import ModelConfig

FORMAT = "regard-bundle"
VERSION = 1
NAME = "manifest.json"
_BLOCK = 1 << 20


class FileEntry(BaseModel):
    """What a file must look like to be the one that was saved."""

    model_config = ConfigDict(frozen=True)

    bytes: int = Field(ge=0, le=MOST["file"])
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @classmethod
    def of(cls, path: Path) -> "FileEntry":
        with open_regular(path) as file:
            size = left = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256()
            while block := file.read(min(left, _BLOCK)):  # never more: the system writes some files while they are read
                digest.update(block)
                left -= len(block)
            return cls(bytes=size, sha256=digest.hexdigest())


class Manifest(BaseModel):
    """Later versions of regard read every earlier `version`; a newer one is refused with its number."""

    model_config = ConfigDict(frozen=True)

    format: str = FORMAT
    version: int = Field(default=VERSION, le=VERSION)
    regard: str
    torch: str
    model: ModelConfig
    source_vocabulary: int = Field(ge=1, le=MOST["vocabulary"])
    target_vocabulary: int = Field(ge=1, le=MOST["vocabulary"])
    source_eos: bool
    longest_source: int = Field(le=MOST["longest"], description="pieces; longer input is cut, and said")
    search: dict[str, Any] = {}
    recipe: dict[str, Any] = {}
    trained: dict[str, Any] = {}
    files: dict[str, FileEntry]


def read_manifest(path: Path) -> Manifest:
    """The manifest at `path`, or the reason why it is none that this version of regard can read."""
    try:
        raw = read_json(path, unique=True)
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BundleError(f"{path} is damaged ({error}): copy the whole bundle again") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise BundleError(
            f"{path} is not a regard manifest: its 'format' is not '{FORMAT}'; name a folder that `regard train` wrote"
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
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        raise BundleError(_why_invalid(path, error, writer)) from error


def _why_invalid(path: Path, error: ValidationError, writer: str) -> str:
    first, ours = error.errors()[0], regard.__version__
    where = cut(".".join(str(part) for part in first["loc"] if part not in ("rnn", "transformer")))
    message = cut(first["msg"].removeprefix("Value error, "), MOST["message"] // 2)
    if writer != ours:
        return f"{path} was written by regard {writer} and this is {ours}: {where}: {message}; install that version"
    return f"{path} is damaged ({where}: {message}): copy the whole bundle again"
