"""The recipe tables [data], which corpus and which of its pairs, and [text], how text becomes pieces.

`kind` decides which of the data tables [data] is.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.bounds import MOST
from regard.data.synthetic import Task
from regard.text.normalise import Normaliser
from regard.text.tokenizer_config import Kind, TokenizerConfig
from regard.text.words import Splitting


class Table(BaseModel):
    """A table whose unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class _Generated(Table):
    """Generated pairs: the number of each split, of `shortest` to `longest` source words."""

    train: int = Field(default=10_000, ge=1, le=MOST["generated"], description="training pairs")
    dev: int = Field(default=500, ge=1, le=MOST["generated"], description="development pairs")
    test: int = Field(default=1_000, ge=1, le=MOST["generated"], description="test pairs")
    shortest: int = Field(default=3, ge=1, le=MOST["longest"], description="smallest number of source words of a pair")
    longest: int = Field(default=20, ge=1, le=MOST["longest"], description="largest number of source words of a pair")
    seed: int = Field(default=0, ge=-MOST["seed"], le=MOST["seed"], description="seed of the generated pairs")

    @model_validator(mode="after")
    def _ordered(self) -> "_Generated":
        if self.shortest > self.longest:
            raise ValueError(f"shortest = {self.shortest} is more than longest = {self.longest}")
        return self


class PhrasebookData(_Generated):
    """Sentences of the built-in bilingual grammar, with gold links."""

    kind: Literal["phrasebook"]
    pair: Literal["en-fr", "fr-en", "en-hi"] = Field(default="en-fr", description="source and target language")


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
    """The keys of every corpus that is read, not generated."""

    held_out: float = Field(default=0.05, gt=0, lt=0.5)
    """Share of train that becomes dev or test where none is given."""
    limit: int | None = Field(default=None, ge=1, le=MOST["count"])
    """Largest number of training pairs, the first ones: to try a recipe."""
    longest_words: int | None = Field(default=None, ge=1, le=MOST["longest"])
    """Training pairs with more words on a side are left out (as in Bahdanau et al. 2014, trained on 30 and on 50)."""


class _Files(_Stored):
    """Paths are relative to `base`, the recipe's folder."""

    base: Path = Path()


Column = Annotated[int, Field(ge=1, le=MOST["columns"])]
ColumnName = Annotated[str, Field(min_length=1)]


class _OneFile(_Files):
    """A file for each split."""

    train: Path = Field(description="file of training pairs")
    dev: Path | None = Field(default=None, description="file of development pairs (default: held out of train)")
    test: Path | None = Field(default=None, description="file of test pairs (default: held out of train)")


class _Columns(_OneFile):
    """Tables with a pair in each line."""

    header: bool = Field(default=False, description="whether the first line names the columns")
    columns: tuple[Column, Column] | tuple[ColumnName, ColumnName] | None = None
    """Source and target where lines have more columns: counted from 1, or names of the header."""

    @model_validator(mode="after")
    def _named(self) -> "_Columns":
        if not self.header and self.columns is not None and isinstance(self.columns[0], str):
            raise ValueError(f"columns = {list(self.columns)} are names, but header = false: set header = true")
        return self


class TsvData(_Columns):
    """Files of source TAB target."""

    kind: Literal["tsv"]


class CsvData(_Columns):
    """Files of comma-separated values, with double quotes around values that hold commas, quotes or line breaks."""

    kind: Literal["csv"]
    header: bool = Field(default=True, description="whether the first line names the columns")
    delimiter: str = Field(default=",", min_length=1, max_length=1)
    """The character between two values; ";" in many European exports."""

    @model_validator(mode="after")
    def _possible(self) -> "CsvData":
        if self.delimiter in '"\r\n':
            raise ValueError(f"delimiter = {self.delimiter!r} cannot separate values: use a comma, semicolon or tab")
        return self


class ParallelFiles(Table):
    """The files of one split, each by its own path."""

    source: Path = Field(description="file of source lines")
    target: Path = Field(description="file of target lines")
    links: Path | None = Field(default=None, description="file of word links, Pharaoh")


class ParallelData(_Files):
    """Line i of one file translates line i of another.

    A split is a prefix, `train = "corpus/train"` with `source = "en"` and `target = "fr"` for corpus/train.en and
    corpus/train.fr (and `links = "align"` for corpus/train.align, if it exists), or a table of paths.
    """

    kind: Literal["parallel"]
    train: ParallelFiles | Path = Field(description="prefix or table of the training files")
    dev: ParallelFiles | Path | None = None
    """Prefix or table of the development files (default: held out of train)."""
    test: ParallelFiles | Path | None = None
    """Prefix or table of the test files (default: held out of train)."""
    source: str | None = Field(default=None, description="ending of source files")
    target: str | None = Field(default=None, description="ending of target files")
    links: str | None = Field(default=None, description="ending of files of word links")
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


class RecordData(_OneFile):
    """Files of records, as JSON lines or Parquet; `source` and `target` name fields, `translation.en` a nested one."""

    kind: Literal["jsonl", "parquet"]
    source: str = Field(default="source", description="field of the source text")
    target: str = Field(default="target", description="field of the target text")


class HuggingFaceData(_Files):
    """A dataset of the Hugging Face hub, or a folder that holds one; splits by their names there."""

    kind: Literal["huggingface"]
    name: str = Field(description="name on the hub, or a folder")
    subset: str | None = Field(default=None, description="configuration of the dataset")
    revision: str | None = Field(default=None, description="version of the dataset")
    train: str = Field(default="train", description="split to train on")
    dev: str | None = Field(default=None, description="split to validate on (default: held out of train)")
    test: str | None = Field(default=None, description="split to test on (default: held out of train)")
    source: str = Field(default="source", description="field of the source text")
    target: str = Field(default="target", description="field of the target text")


class CatalogueData(_Stored):
    """A corpus that `regard data list` names; splits by their names there (default: those of the catalogue)."""

    kind: Literal["catalogue"]
    name: str = Field(description="name in `regard data list`")
    source: str = Field(description="source side, as in en")
    target: str = Field(description="target side, as in fr")
    part: str | None = None
    """Which part of a corpus that has several, e.g. a language of g2p-sigmorphon2020."""
    train: str | None = Field(default=None, description="split to train on")
    dev: str | None = Field(default=None, description="split to validate on")
    test: str | None = Field(default=None, description="split to test on")
    more: tuple[str, ...] = ()
    """Other corpora with the same sides, whose training text is added."""


StoredData = TsvData | CsvData | ParallelData | RecordData | HuggingFaceData | CatalogueData
DataConfig = Annotated[PhrasebookData | SyntheticData | StoredData, Field(discriminator="kind")]
"""The table [data]; `kind` decides which."""

FILE_KINDS = ("tsv", "csv", "parallel", "jsonl", "parquet", "huggingface")
"""Kinds whose paths are relative to the recipe."""
PATH_KINDS = ("tsv", "csv", "parallel", "jsonl", "parquet")
"""Kinds whose splits are paths."""

_SHARED = ("kind", "vocabulary", "minimum_count", "normalise", "words", "dropout")


class TextConfig(Table):
    """The table [text]: keys for both sides; [text.source] and [text.target] change them for one."""

    kind: Kind | None = Field(default=None, description="kind of pieces on both sides")
    vocabulary: int | None = Field(default=None, le=MOST["vocabulary"])
    """Largest number of pieces on each side, the four special ones included."""
    minimum_count: int | None = Field(default=None, le=MOST["count"])
    """Rarer words or characters are unknown."""
    normalise: Normaliser | None = Field(default=None, description="how text is normalised on both sides")
    words: Splitting | None = Field(default=None, description="where words end: at marks and spaces, or at spaces only")
    dropout: float | None = Field(default=None, description="share of BPE merges left out in training")
    source: TokenizerConfig = TokenizerConfig()
    """Keys that differ on the source side."""
    target: TokenizerConfig = TokenizerConfig()
    """Keys that differ on the target side."""
    joint: bool = Field(default=False, description="one vocabulary for both sides")
    source_eos: bool = True
    """Whether the source ends with EOS, which attention can point to for words without a source."""
    longest_source: int | None = Field(default=None, ge=1, le=MOST["longest"])
    """Largest number of source pieces, EOS not counted; longer pairs are left out of training."""
    longest_target: int | None = Field(default=None, ge=1, le=MOST["longest"])
    """Largest number of target pieces, BOS and EOS not counted; longer pairs are left out of training."""

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, given: Any) -> Any:
        """Copy the keys for both sides to each side."""
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
