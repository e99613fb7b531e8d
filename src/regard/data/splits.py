"""The pairs of a split that the table [data] describes: in memory, or as a stream from files."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.data.catalogue import resolve, resolve_more
from regard.data.corpora import read_csv, read_parallel, read_tsv
from regard.data.holdout import BY, HeldOut, hold_out
from regard.data.lines import find_file
from regard.data.pair import Pair
from regard.data.records import open_dataset, read_dataset, read_jsonl, read_parquet
from regard.data.synthetic import Split, synthetic
from regard.data.tables import (
    CatalogueData,
    CsvData,
    DataConfig,
    HuggingFaceData,
    ParallelData,
    ParallelFiles,
    PhrasebookData,
    RecordData,
    StoredData,
    SyntheticData,
    TsvData,
)
from regard.text.input_error import InputError
from regard.text.words import word_spans

SPLITS: tuple[Split, ...] = ("train", "dev", "test")
_MARKS = re.compile(r"[^\w\s]|[\u2e80-\U0010ffff]")
"""Characters where a word may end without a space: each adds two words at most."""


@dataclass(frozen=True)
class Corpus:
    """The pairs of a split, and notes for the user about how they were read."""

    pairs: list[Pair]
    notes: tuple[str, ...] = ()


def load_split(config: DataConfig, split: Split) -> Corpus:
    """The training, development or test pairs."""
    if isinstance(config, PhrasebookData):
        from regard.data.phrasebook import pairs

        count: int = getattr(config, split)
        return Corpus(pairs(config.pair, split, count, config.seed, config.shortest, config.longest))
    if isinstance(config, SyntheticData):
        count = getattr(config, split)
        lengths = config.shortest, config.longest
        return Corpus(synthetic(config.kind, config.vocabulary, *lengths, count, config.seed, split, config.first))
    notes: list[str] = []
    found = list(open_split(config, split).pairs(notes))
    return Corpus(found, tuple(notes))


def open_split(config: StoredData, split: Split) -> "StoredSplit":
    """A split of a stored corpus, to be read as a stream."""
    if not isinstance(config, CatalogueData):
        return StoredSplit(config, split)
    added = resolve_more(config) if split == "train" else ()
    return StoredSplit(resolve(config), split, tuple(StoredSplit(one, "train") for one in added))


def check_readable(config: DataConfig) -> None:
    """Read the first pair of each split, so that a missing file or a malformed line is reported early."""
    if not isinstance(config, (PhrasebookData, SyntheticData)):
        for split in SPLITS:
            open_split(config, split).peek()


def split_files(config: DataConfig) -> list[Path]:
    """The files that the splits are read from; none for generated data and for datasets of the Hub."""
    if isinstance(config, (PhrasebookData, SyntheticData, HuggingFaceData)):
        return []
    return [path for split in SPLITS for path in open_split(config, split).files()]


@dataclass(frozen=True)
class StoredSplit:
    """Pairs that are read from their files one at a time, each time they are needed."""

    config: TsvData | CsvData | ParallelData | RecordData | HuggingFaceData
    split: Split
    more: "tuple[StoredSplit, ...]" = ()
    """Splits that are read after this one."""

    def pairs(self, notes: list[str] | None = None) -> Iterator[Pair]:
        """The pairs; notes for the user are appended to `notes` after the last one."""
        skipped: list[int] = []
        train, chosen = self.split == "train", self._held_out
        limit, longest = (self.config.limit, self.config.longest_words) if train else (None, None)
        kept = long = 0
        limited, notes_of_others = False, list[str]()
        for pair in self._read(self._origin, skipped):
            if chosen is not None and chosen.split_of(pair.source) != self.split:
                continue
            if longest is not None and not (_fits(pair.source, longest) and _fits(pair.target, longest)):
                long += 1
                continue
            if limited := kept == limit:
                break
            kept += 1
            yield pair
        if long and not kept and not self.more:
            words = "1 word" if longest == 1 else f"{longest} words"
            raise InputError(
                f"{self._name}: every training pair ({long:,}) has more than {words} on a side, so none is left to "
                "learn from: raise longest_words in [data]"
            )
        for other in () if limited else self.more:
            for pair in other.pairs(notes_of_others):
                if limited := kept == limit:
                    break
                kept += 1
                yield pair
        if notes is not None:
            notes += [*self._notes(skipped, long, limited), *notes_of_others]

    def peek(self) -> None:
        """Read the first pair of the files, whichever split it belongs to."""
        next(self._read(self._origin, []), None)
        for other in self.more:
            other.peek()

    def files(self) -> list[Path]:
        """The files that the pairs are read from."""
        return [*self._files(self._origin), *(path for other in self.more for path in other.files())]

    @cached_property
    def key(self) -> str:
        """The cache key: depends on the bytes of the corpus and on which pairs are taken, not on its folder."""
        digest = hashlib.sha256()
        parts = self.config.model_dump(mode="json", exclude={"base", "train", "dev", "test", "name"})
        if parts.get("header") is False and isinstance(self.config, TsvData):
            del parts["header"]  # a key added to the table later must not invalidate existing caches
        parts |= {"split": self.split, "missing": (*self._missing, BY) if self._missing else ()}
        digest.update(json.dumps(parts, sort_keys=True).encode())
        if isinstance(self.config, HuggingFaceData):
            digest.update(self._dataset(self._origin)._fingerprint.encode())
        else:
            for path in self._files(self._origin):
                digest.update(_digest(path))
        for other in self.more:
            digest.update(other.key.encode())
        return digest.hexdigest()

    @property
    def _missing(self) -> tuple[str, ...]:
        """The splits that must be held out of train."""
        return tuple(name for name in ("dev", "test") if getattr(self.config, name) is None)

    @property
    def _origin(self) -> Split:
        """The split whose files hold this one's pairs."""
        return "train" if self.split in self._missing else self.split

    @cached_property
    def _held_out(self) -> HeldOut | None:
        if not self._missing or (self.split != "train" and self.split not in self._missing):
            return None
        sources = (pair.source for pair in self._read("train", []))
        return hold_out(sources, self.config.held_out, self._missing)

    def _read(self, split: Split, skipped: list[int]) -> Iterator[Pair]:
        config = self.config
        if isinstance(config, HuggingFaceData):
            return read_dataset(self._dataset(split), config.source, config.target, skipped)
        files = self._files(split)
        if isinstance(config, TsvData):
            return read_tsv(files[0], config.columns, skipped, header=config.header)
        if isinstance(config, CsvData):
            return read_csv(files[0], config.columns, skipped, header=config.header, delimiter=config.delimiter)
        if isinstance(config, RecordData):
            read = read_jsonl if config.kind == "jsonl" else read_parquet
            return read(files[0], config.source, config.target, skipped)
        links = files[2] if len(files) > 2 else None
        return read_parallel(files[0], files[1], links, skipped, turned=config.links_turned)

    def _files(self, split: Split) -> list[Path]:
        """The one file of a split, or source, target and perhaps links."""
        config = self.config
        if isinstance(config, ParallelData):
            return _parallel_files(config, split)
        return [config.base / getattr(config, split)]

    def _dataset(self, split: Split) -> Any:
        config = self.config
        assert isinstance(config, HuggingFaceData)
        folder = config.base / config.name
        name = str(folder) if folder.is_dir() else config.name
        return open_dataset(name, config.subset, config.revision, getattr(config, split))

    @property
    def _name(self) -> str:
        """The name for messages: a file, or a dataset."""
        return self.config.name if isinstance(self.config, HuggingFaceData) else self._files(self._origin)[0].name

    def _notes(self, skipped: list[int], long: int, limited: bool) -> Iterator[str]:
        name = self._name
        if skipped:
            lines = "1 line" if len(skipped) == 1 else f"{len(skipped):,} lines"
            yield f"{name}: {lines} left out, a side is blank (first: line {skipped[0]})"
        if long:
            yield f"{name}: {long:,} pairs left out, a side has more than {self.config.longest_words} words"
        if limited:
            yield f"{name}: only the first {self.config.limit:,} training pairs are used (data.limit)"
        chosen = self._held_out
        for missing in self._missing:
            if chosen is not None and self.split in ("train", missing):
                yield (
                    f"no {missing} file: {getattr(chosen, missing):,} of the {chosen.pairs:,} training pairs, chosen "
                    f"by their source text, are held out for {missing}"
                )


def _parallel_files(config: ParallelData, split: Split) -> list[Path]:
    given = getattr(config, split)
    if isinstance(given, ParallelFiles):
        return [config.base / path for path in (given.source, given.target, given.links) if path is not None]
    prefix = config.base / given
    files = [prefix.with_name(f"{prefix.name}.{ending}") for ending in (config.source, config.target)]
    if config.links is not None:
        with suppress(InputError):  # gold links rarely exist for training text
            files.append(find_file(prefix.with_name(f"{prefix.name}.{config.links}")))
    return files


def _fits(text: str, longest: int) -> bool:
    """Whether a text has at most `longest` words; cheap bounds avoid the exact count for most texts."""
    if len(text) <= longest:
        return True
    spaced = len(text.split())
    if spaced > longest:
        return False
    if spaced + 2 * len(_MARKS.findall(text)) <= longest:
        return True
    return len(word_spans(text)) <= longest


def _digest(path: Path) -> bytes:
    place = find_file(path)
    try:
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as problem:
        raise InputError(f"cannot read {place}: {problem.strerror or problem}") from None
