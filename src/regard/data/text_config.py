"""The recipe table [text]; `tables` has the table [data]."""

from typing import Any

from pydantic import Field, model_validator

from regard.bounds import MOST
from regard.data.tables import Table
from regard.text.normalise import Normaliser
from regard.text.tokenizer_config import Kind, TokenizerConfig
from regard.text.words import Splitting

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
