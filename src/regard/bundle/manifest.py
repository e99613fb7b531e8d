"""The bundle's table of contents: versions, configuration and a checksum for every file."""

import hashlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from regard.models.config import ModelConfig, RecurrentConfig, TransformerConfig

FORMAT = "regard-bundle"
VERSION = 1
NAME = "manifest.json"


class FileEntry(BaseModel):
    """What a file must look like to be the one that was saved."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    model: RecurrentConfig | TransformerConfig = Field(discriminator="architecture")
    source_vocabulary: int
    target_vocabulary: int
    source_eos: bool
    longest_source: int = Field(description="pieces; longer input is cut, and said")
    search: dict[str, Any] = {}
    recipe: dict[str, Any] = {}
    trained: dict[str, Any] = {}
    files: dict[str, FileEntry]


__all__ = ["FORMAT", "NAME", "VERSION", "FileEntry", "Manifest", "ModelConfig"]
