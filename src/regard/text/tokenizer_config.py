"""`TokenizerConfig`: the settings of a tokenizer."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.bounds import MOST
from regard.text.normalise import Normaliser
from regard.text.special import SPECIAL
from regard.text.words import Splitting, Unit

Kind = Literal["word", "character", "bpe", "unigram"]


class TokenizerConfig(BaseModel):
    """How text becomes pieces; part of the tokenizer's file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    kind: Kind = "word"
    """Kind of pieces."""
    vocabulary: int | None = Field(default=None, gt=len(SPECIAL), le=MOST["vocabulary"])
    """Largest number of pieces, the four special ones included; None: no limit (word and character only)."""
    minimum_count: int = Field(default=1, ge=1, le=MOST["count"])
    """Rarer words or characters are unknown (kind bpe: rarer pairs are not merged)."""
    normalise: Normaliser = Normaliser()
    """How text is normalised."""
    words: Splitting = "marks"
    """`spaces` for text that is tokenised already, phonemes for instance; with kind character, words instead of
    characters are what links and lengths count."""
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Share of BPE merges left out when encoding with a random generator (training); 0.1 is usual."""

    @property
    def unit(self) -> Unit:
        """What links, entropies, maps and lengths count: characters where pieces are characters."""
        return "characters" if self.kind == "character" and self.words == "marks" else self.words

    @model_validator(mode="after")
    def _possible(self) -> "TokenizerConfig":
        if self.kind in ("bpe", "unigram") and self.vocabulary is None:
            raise ValueError(f'kind = "{self.kind}" needs the number of pieces, e.g. vocabulary = 8000')
        if self.kind == "unigram" and self.minimum_count != 1:
            raise ValueError('kind = "unigram" takes no minimum_count; choose vocabulary instead')
        if self.kind != "bpe" and self.dropout:
            raise ValueError(f'dropout leaves out merges of kind = "bpe"; kind = "{self.kind}" has none')
        return self
