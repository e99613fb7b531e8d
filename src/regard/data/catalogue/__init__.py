"""The catalogue of corpora: licence, splits, checksums and local copies; one TOML file for each corpus."""

import os
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import Field

from regard.bounds import MOST
from regard.data.lines import COMPRESSED, find_file
from regard.data.tables import CatalogueData, ParallelData, Table, TsvData
from regard.suggest import suggest
from regard.text.input_error import InputError


class TextFile(Table):
    """A file of a corpus; `sha256` and `bytes` are those of its uncompressed text."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    lines: int = Field(ge=0, le=MOST["count"])
    bytes: int = Field(ge=0, le=MOST["file"])
    address: str | None = None
    """The download URL."""


class CatalogueEntry(Table):
    """A corpus. A split is a prefix of file names (parallel) or a name without .tsv (tsv)."""

    name: str
    title: str
    origin: str
    licence: str
    acknowledge: str = ""
    use: str
    layout: Literal["parallel", "tsv"]
    sides: tuple[str, ...]
    """The languages: endings of parallel files, or the columns of a TSV file in their order."""
    parts: tuple[str, ...] = ()
    """The parts of a corpus that has several: the name of one replaces `{part}` in the names of splits."""
    train: str
    dev: str | None = None
    test: str | None = None
    links: str | None = None
    """Ending of the gold links, which count words of the first side first."""
    files: dict[str, TextFile]
    also: dict[str, TextFile] = Field(default_factory=dict)
    """Other files: gold links, licences, attributions."""

    @property
    def all_files(self) -> dict[str, TextFile]:
        return {**self.files, **self.also}

    @property
    def public(self) -> bool:
        """Whether every file can be downloaded."""
        return all(file.address is not None for file in self.all_files.values())

    def splits(self) -> dict[str, int]:
        """Each split with the number of its pairs."""
        first = f".{self.sides[0]}" if self.layout == "parallel" else ".tsv"
        return {name.removesuffix(first): file.lines for name, file in self.files.items() if name.endswith(first)}


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Every corpus by its name."""
    folder = Path(str(files("regard"))) / "data" / "catalogue"
    return {
        path.stem: CatalogueEntry.model_validate({"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))})
        for path in sorted(folder.glob("*.toml"))
    }


def find_entry(name: str) -> CatalogueEntry:
    """The corpus of this name, or an error with the nearest one."""
    entries = catalogue()
    if name in entries:
        return entries[name]
    alike = [known for known in entries if name and known.startswith(name)]
    hint = suggest(alike[0] if alike else name, entries, "names")
    raise InputError(f"no corpus '{name}' in the catalogue: {hint} (`regard data list` shows them all)")


def data_folders() -> list[Path]:
    """The folders that are searched for corpora: REGARD_DATA if it is set, then the user's data folder."""
    own = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "regard"
    named = os.environ.get("REGARD_DATA")
    return [*([Path(named)] if named else []), own]


def corpus_folder(entry: CatalogueEntry) -> Path | None:
    """The folder with a local copy of a corpus, or None."""
    places = (folder / entry.name for folder in data_folders())
    return next((place for place in places if any(is_here(place / name) for name in entry.files)), None)


def is_here(path: Path) -> bool:
    """Whether the file exists, compressed or not."""
    return any(path.with_name(path.name + suffix).is_file() for suffix in ("", *COMPRESSED))


def resolve(config: CatalogueData) -> TsvData | ParallelData:
    """The local files that a recipe's [data] refers to."""
    entry = find_entry(config.name)
    for side in (config.source, config.target):
        if side not in entry.sides:
            raise InputError(f"{entry.name} has no side '{side}': it has {', '.join(entry.sides)}")
    if config.source == config.target:
        raise InputError(f"source and target are both '{config.source}': {entry.name} has {', '.join(entry.sides)}")
    folder = corpus_folder(entry)
    if folder is None:
        fetch = f"`regard data get {entry.name}` fetches it, " if entry.public else ""
        looked = " and ".join(map(str, data_folders()))
        raise InputError(
            f"the corpus {entry.name} is not here: {fetch}`regard data get {entry.name} --from DIR` takes it from a "
            f"local copy, and REGARD_DATA names a folder of corpora (looked in {looked})"
        )
    names = {split: _split_name(entry, config, split) for split in ("train", "dev", "test")}
    shared = {"base": folder, "held_out": config.held_out, "limit": config.limit, "longest_words": config.longest_words}
    for name in names.values():
        if name is not None:
            _check_files(entry, folder, name, (config.source, config.target))
    if entry.layout == "tsv":
        columns = entry.sides.index(config.source) + 1, entry.sides.index(config.target) + 1
        tables = {split: None if name is None else f"{name}.tsv" for split, name in names.items()}
        return TsvData.model_validate({"kind": "tsv", "columns": columns, **tables, **shared})
    sides = {"source": config.source, "target": config.target}
    turned = entry.sides.index(config.source) > entry.sides.index(config.target)
    return ParallelData.model_validate(
        {"kind": "parallel", "links": entry.links, "links_turned": turned, **sides, **names, **shared}
    )


def resolve_more(config: CatalogueData) -> tuple[TsvData | ParallelData, ...]:
    """The files of the corpora whose training pairs are added; nothing is held out of them."""
    found = []
    for name in config.more:
        only = dict.fromkeys(("train", "dev", "test"), find_entry(name).train)
        found.append(resolve(config.model_copy(update={"name": name, "more": (), "part": None, **only})))
    return tuple(found)


def _split_name(entry: CatalogueEntry, config: CatalogueData, split: str) -> str | None:
    """The name of a split in the recipe or the catalogue; None: it is held out of train."""
    name: str | None = getattr(config, split) or getattr(entry, split)
    if name is None:
        return None
    if entry.parts:
        if config.part not in entry.parts:
            given = "name one" if config.part is None else f"no part '{config.part}'"
            raise InputError(f"{entry.name} has several parts, {given}: part is one of {', '.join(entry.parts)}")
        name = name.replace("{part}", config.part)
    elif config.part is not None:
        raise InputError(f"{entry.name} has no parts: leave part = '{config.part}' out")
    if name not in entry.splits():
        raise InputError(f"{entry.name} has no split '{name}': it has {', '.join(entry.splits())}")
    return name


def _check_files(entry: CatalogueEntry, folder: Path, split: str, sides: tuple[str, str]) -> None:
    endings = sides if entry.layout == "parallel" else ("tsv",)
    for ending in endings:
        try:
            find_file(folder / f"{split}.{ending}")
        except InputError as problem:
            raise InputError(
                f"the copy of {entry.name} in {folder} is incomplete ({problem}): `regard data get {entry.name}` again"
            ) from None
