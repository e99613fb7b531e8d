"""The recipe tables [data] and [text], and the pairs of a split as [data] describes them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.data.corpora import read_parallel, read_tsv
from regard.data.holdout import hold_out
from regard.data.lines import find_file
from regard.data.pair import Pair
from regard.data.synthetic import Split, Task, synthetic
from regard.text.config import Kind, TokenizerConfig
from regard.text.errors import InputError
from regard.text.normalise import Normaliser
from regard.text.words import Splitting


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Generated(_Table):
    """Pairs made up on the spot: so many for each split, of `shortest` to `longest` source words."""

    train: int = Field(default=10_000, ge=1)
    dev: int = Field(default=500, ge=1)
    test: int = Field(default=1_000, ge=1)
    shortest: int = Field(default=3, ge=1)
    longest: int = Field(default=20, ge=1)
    seed: int = 0

    @model_validator(mode="after")
    def _ordered(self) -> "_Generated":
        if self.shortest > self.longest:
            raise ValueError(f"shortest = {self.shortest} is more than longest = {self.longest}")
        return self


class PhrasebookData(_Generated):
    """Sentences of the built-in bilingual grammar, with gold links."""

    kind: Literal["phrasebook"]
    pair: Literal["en-fr", "fr-en", "en-hi"] = "en-fr"


class SyntheticData(_Generated):
    """Sequences of numbers to copy, reverse or sort, with gold links."""

    kind: Task
    vocabulary: int = Field(default=50, gt=3)
    """The symbols are the numbers from 3 to vocabulary - 1."""


class TsvData(_Table):
    """Files of source TAB target; paths are relative to `base`, the recipe's folder."""

    kind: Literal["tsv"]
    train: Path
    dev: Path | None = None
    test: Path | None = None
    columns: tuple[int, int] | None = None
    """Which two columns, counted from 1, where lines have more."""
    held_out: float = Field(default=0.05, gt=0, lt=0.5)
    """Share of train that becomes dev or test where no file is given."""
    base: Path = Path()


class ParallelFiles(_Table):
    """The files of one split, each by its own path."""

    source: Path
    target: Path
    links: Path | None = None


class ParallelData(_Table):
    """Line i of one file translates line i of another.

    A split is a prefix, `train = "corpus/train"` with `source = "en"` and `target = "fr"` for corpus/train.en and
    corpus/train.fr (and `links = "align"` for corpus/train.align, if it exists), or a table of paths.
    """

    kind: Literal["parallel"]
    train: ParallelFiles | Path
    dev: ParallelFiles | Path | None = None
    test: ParallelFiles | Path | None = None
    source: str | None = None
    target: str | None = None
    links: str | None = None
    held_out: float = Field(default=0.05, gt=0, lt=0.5)
    """Share of train that becomes dev or test where no files are given."""
    base: Path = Path()

    @model_validator(mode="after")
    def _named(self) -> "ParallelData":
        prefixes = [str(split) for split in (self.train, self.dev, self.test) if isinstance(split, Path)]
        if prefixes and (self.source is None or self.target is None):
            raise ValueError(f'"{prefixes[0]}" is a prefix: give the endings too, e.g. source = "en", target = "fr"')
        if self.source is not None and self.source == self.target:
            raise ValueError(f'source and target are both "{self.source}": a file would be paired with itself')
        return self


DataConfig = Annotated[PhrasebookData | SyntheticData | TsvData | ParallelData, Field(discriminator="kind")]
"""The table [data]; `kind` decides which."""

_SHARED = ("kind", "vocabulary", "minimum_count", "normalise", "words", "dropout")


class TextConfig(_Table):
    """The table [text]: what stands here holds for both sides, [text.source] and [text.target] change it for one."""

    kind: Kind | None = None
    vocabulary: int | None = None
    minimum_count: int | None = None
    normalise: Normaliser | None = None
    words: Splitting | None = None
    dropout: float | None = None
    source: TokenizerConfig = TokenizerConfig()
    target: TokenizerConfig = TokenizerConfig()
    joint: bool = False
    """One vocabulary for both sides."""
    source_eos: bool = True
    """Whether the source ends with EOS, a place to look at when nothing else is meant."""
    longest_source: int | None = Field(default=None, ge=1)
    longest_target: int | None = Field(default=None, ge=1)
    """Pieces at most, without BOS and EOS; longer pairs are left out of training."""

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, given: Any) -> Any:
        """Give each side what is said for both."""
        if not isinstance(given, dict):
            return given
        shared = {key: given[key] for key in _SHARED if given.get(key) is not None}
        return {
            **given,
            "source": _changed(shared, given.get("source")),
            "target": _changed(shared, given.get("target")),
        }

    @model_validator(mode="after")
    def _one_for_both(self) -> "TextConfig":
        if self.joint and self.source != self.target:
            different = [key for key in _SHARED if getattr(self.source, key) != getattr(self.target, key)]
            raise ValueError(
                f"joint = true needs one choice for both sides; source and target differ in {different[0]}"
            )
        return self


def _changed(shared: dict[str, Any], side: Any) -> Any:
    if side is None:
        return shared
    if isinstance(side, TokenizerConfig):
        side = side.model_dump(exclude_unset=True)
    if not isinstance(side, dict):
        return side
    merged = {**shared, **side}
    if isinstance(shared.get("normalise"), dict) and isinstance(side.get("normalise"), dict):
        merged["normalise"] = {**shared["normalise"], **side["normalise"]}
    return merged


@dataclass(frozen=True)
class Corpus:
    """The pairs of a split, and what a person should hear about how they came about."""

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
        return Corpus(synthetic(config.kind, config.vocabulary, *lengths, count, config.seed, split))
    missing = tuple(name for name in ("dev", "test") if getattr(config, name) is None)
    corpus = _read(config, "train" if split in missing else split)
    if not missing or (split != "train" and split not in missing):
        return corpus
    shares = hold_out(corpus.pairs, config.held_out, missing)
    notes = [
        f"no {name} file: {len(shares[name]):,} of the {len(corpus.pairs):,} training pairs, chosen by their source "
        f"text, are held out for {name}"
        for name in missing
        if split in ("train", name)
    ]
    return Corpus(shares[split], (*corpus.notes, *notes))


def _read(config: TsvData | ParallelData, split: Split) -> Corpus:
    skipped: list[int] = []
    if isinstance(config, TsvData):
        path = config.base / getattr(config, split)
        pairs = list(read_tsv(path, config.columns, skipped))
    else:
        files = _files(config, split)
        path = files.source
        pairs = list(read_parallel(files.source, files.target, files.links, skipped))
    if not skipped:
        return Corpus(pairs)
    lines = "1 line" if len(skipped) == 1 else f"{len(skipped):,} lines"
    return Corpus(pairs, (f"{path.name}: {lines} left out, a side is blank (first: line {skipped[0]})",))


def _files(config: ParallelData, split: Split) -> ParallelFiles:
    given = getattr(config, split)
    if isinstance(given, ParallelFiles):
        links = None if given.links is None else config.base / given.links
        return ParallelFiles(source=config.base / given.source, target=config.base / given.target, links=links)
    prefix = config.base / given
    source, target = (prefix.with_name(f"{prefix.name}.{ending}") for ending in (config.source, config.target))
    links = None
    if config.links is not None:
        try:
            links = find_file(prefix.with_name(f"{prefix.name}.{config.links}"))
        except InputError:
            links = None  # gold links rarely exist for training text
    return ParallelFiles(source=source, target=target, links=links)
