"""The record of an output folder, so that a resumed run does not mix models, settings or versions of a file."""

import hashlib
import json
from pathlib import Path
from typing import Any

from regard.files import write_whole
from regard.lab.bulk.parts import BLOCK
from regard.reading_files import open_regular, read_json
from regard.text.input_error import InputError

RECORD = "bulk.json"


def check_record(folder: Path, made_with: dict[str, Any], files: dict[Path, str]) -> dict[str, Any]:
    """Record the model, settings and files of an output folder; raise if an existing record differs."""
    digests = {name: _digest(path) for path, name in files.items()}
    place = folder / RECORD
    if place.exists():
        try:
            before = read_json(place)
            known = {**before["sha256"]}
            same = before["made_with"] == made_with
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{place} is damaged, or from another version: name another --output") from error
        if not same and any(folder.rglob("part-*")):
            raise InputError(f"{folder} holds translations by another model or other settings: name another --output")
        differ = [name for name, digest in digests.items() if known.get(name, digest) != digest]
        changed = [name for name in differ if any((folder / name).glob("part-*"))]
        if changed:
            raise InputError(f"{changed[0]} has changed since {folder} was started: name another --output")
        digests = known | digests
    elif any(folder.iterdir()) and {one.name for one in folder.iterdir()} != {f".{RECORD}.lock"}:
        raise InputError(f"{folder} is not empty and holds no {RECORD}: name a new folder with --output")
    record = {"made_with": made_with, "sha256": digests}
    write_record(folder, record)
    return record


def holds_record(folder: Path) -> bool:
    """Whether a folder is the output of a run: it holds a record, and not only a file with its name."""
    try:
        with open_regular(folder / RECORD) as file:
            return b'"made_with"' in file.read(20)
    except OSError:
        return False


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Replace the record of an output folder."""
    write_whole(folder / RECORD, json.dumps(record, indent=1) + "\n")


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
