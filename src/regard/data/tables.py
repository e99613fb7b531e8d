"""The recipe table [data]: which corpus, and which of its pairs; `kind` decides which of these tables it is."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.bounds import MOST
from regard.data.synthetic import Task


class Table(BaseModel):
    """A table whose unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Generated(Table):
    """Pairs made up on the spot: so many for each split, of `shortest` to `longest` source words."""

    train: int = Field(default=10_000, ge=1, le=MOST["generated"])
    dev: int = Field(default=500, ge=1, le=MOST["generated"])
    test: int = Field(default=1_000, ge=1, le=MOST["generated"])
    shortest: int = Field(default=3, ge=1, le=MOST["longest"])
    longest: int = Field(default=20, ge=1, le=MOST["longest"])
    seed: int = Field(default=0, ge=-MOST["seed"], le=MOST["seed"])

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
    first: int = Field(default=3, ge=0, le=MOST["vocabulary"], description="the smallest number")
    vocabulary: int = Field(
        default=50, gt=3, le=MOST["vocabulary"], description="the numbers are those from first to vocabulary - 1"
    )

    @model_validator(mode="after")
    def _has_numbers(self) -> "SyntheticData":
        if self.first >= self.vocabulary:
            raise ValueError(f"first = {self.first} is not less than vocabulary = {self.vocabulary}: no number is left")
        return self


class _Stored(Table):
    """What can be said of every corpus that is read and not made up."""

    held_out: float = Field(default=0.05, gt=0, lt=0.5)
    """Share of train that becomes dev or test where none is given."""
    limit: int | None = Field(default=None, ge=1, le=MOST["count"])
    """So many training pairs at most, the first ones: to try a recipe out."""
    longest_words: int | None = Field(default=None, ge=1, le=MOST["longest"])
    """Training pairs with more words on a side are left out (as in Bahdanau et al. 2014, trained on 30 and on 50)."""


class _Files(_Stored):
    """Paths are relative to `base`, the recipe's folder."""

    base: Path = Path()


Column = Annotated[int, Field(ge=1, le=MOST["columns"])]


class TsvData(_Files):
    """Files of source TAB target."""

    kind: Literal["tsv"]
    train: Path
    dev: Path | None = None
    test: Path | None = None
    columns: tuple[Column, Column] | None = None
    """Which two columns, counted from 1, where lines have more."""


class ParallelFiles(Table):
    """The files of one split, each by its own path."""

    source: Path
    target: Path
    links: Path | None = None


class ParallelData(_Files):
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
    links_turned: bool = False
    """The links count target word first: they were made for the other direction."""

    @model_validator(mode="after")
    def _named(self) -> "ParallelData":
        prefixes = [str(split) for split in (self.train, self.dev, self.test) if isinstance(split, Path)]
        if prefixes and (self.source is None or self.target is None):
            raise ValueError(f'"{prefixes[0]}" is a prefix: give the endings too, e.g. source = "en", target = "fr"')
        if self.source is not None and self.source == self.target:
            raise ValueError(f'source and target are both "{self.source}": a file would be paired with itself')
        return self


class RecordData(_Files):
    """Files of records, as JSON lines or Parquet; `source` and `target` name fields, `translation.en` a nested one."""

    kind: Literal["jsonl", "parquet"]
    train: Path
    dev: Path | None = None
    test: Path | None = None
    source: str = "source"
    target: str = "target"


class HuggingFaceData(_Files):
    """A dataset of the Hugging Face hub, or a folder that holds one; splits by their names there."""

    kind: Literal["huggingface"]
    name: str
    subset: str | None = None
    revision: str | None = None
    train: str = "train"
    dev: str | None = None
    test: str | None = None
    source: str = "source"
    target: str = "target"


class CatalogueData(_Stored):
    """A corpus that `regard data list` names; splits by their names there, its own choice if left out."""

    kind: Literal["catalogue"]
    name: str
    source: str
    target: str
    part: str | None = None
    """Which part of a corpus that has several, e.g. a language of g2p-sigmorphon2020."""
    train: str | None = None
    dev: str | None = None
    test: str | None = None
    more: tuple[str, ...] = ()
    """Other corpora with the same sides, whose training text is added."""


StoredData = TsvData | ParallelData | RecordData | HuggingFaceData | CatalogueData
DataConfig = Annotated[PhrasebookData | SyntheticData | StoredData, Field(discriminator="kind")]
"""The table [data]; `kind` decides which."""

FILE_KINDS = ("tsv", "parallel", "jsonl", "parquet", "huggingface")
"""Kinds whose paths are relative to the recipe."""
PATH_KINDS = ("tsv", "parallel", "jsonl", "parquet")
"""Kinds whose splits are paths."""
