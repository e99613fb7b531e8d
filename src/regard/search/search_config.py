"""The recipe's [search] table: the kind of search and its limits."""

from typing import Annotated, Literal

import torch
from jaxtyping import Int
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor

from regard.bounds import MOST
from regard.search.sample import Sampler
from regard.search.search_options import LengthPenalty, Options


class Longest(BaseModel):
    """A limit that grows with the source: factor · source length + offset tokens, EOS included."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="forbid", allow_inf_nan=False)

    factor: float = Field(default=2.0, ge=0, le=MOST["factor"], description="tokens for each source token")
    offset: int = Field(default=10, ge=0, le=MOST["longest"], description="tokens that are added")


class SearchConfig(BaseModel):
    """Beam 1 is greedy search; a temperature makes it sampling.

    longest = 60  or  longest = { factor = 1.5, offset = 5 }

    With a beam of 2 or more, coverage_penalty (e.g. 0.2) prefers hypotheses that attend to the whole source.
    """

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="forbid", allow_inf_nan=False)

    beam: int = Field(default=1, ge=1, le=MOST["beam"], description="beam width; 1 is greedy search")
    nbest: int = Field(default=1, ge=1, le=MOST["beam"], description="translations of each text")
    longest: Longest | Annotated[int, Field(ge=0, le=MOST["longest"])] = Field(default_factory=Longest)
    """Largest number of tokens of a translation: a number, or a table."""
    length_penalty: float = Field(default=1.0, ge=0, le=MOST["penalty"])
    """Scores are divided by length to this power."""
    length_form: Literal["power", "gnmt"] = "power"
    """Form of the length penalty: length^x, or that of GNMT."""
    coverage_penalty: float = Field(default=0.0, ge=0, le=MOST["penalty"])
    """How much beam search penalises source positions that received little attention."""
    no_repeat_ngram: int = Field(default=0, ge=0, le=MOST["longest"])
    """No n-gram of this size occurs twice; 0 allows all."""
    forbid_unk: bool = Field(default=False, description="whether the unknown word is forbidden in translations")
    temperature: float | None = Field(default=None, gt=0)
    """Samples instead of searching; 1.0 leaves the distribution as it is."""
    top_k: int | None = Field(default=None, ge=1, le=MOST["vocabulary"])
    """Sample from the k most probable tokens."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Sample from the most probable tokens that sum to p."""
    seed: int = Field(default=0, ge=-MOST["seed"], le=MOST["seed"], description="seed of sampling")

    @model_validator(mode="after")
    def _agree(self) -> "SearchConfig":
        hypotheses = max(self.beam, self.nbest)
        if isinstance(self.longest, int) and hypotheses * self.longest > MOST["search"]:
            raise ValueError(
                f"{hypotheses:,} hypotheses × longest {self.longest:,} are more than {MOST['search']:,} pieces: lower "
                "beam, nbest or longest"
            )
        if self.temperature is None:
            if self.top_k is not None or self.top_p is not None:
                raise ValueError("top_k and top_p need a temperature; 1.0 leaves the model's distribution as it is")
            if self.nbest > self.beam:
                raise ValueError(
                    f"nbest {self.nbest} is more than beam {self.beam} can find; raise beam to {self.nbest}"
                )
        elif self.beam > 1:
            raise ValueError(
                f"temperature means sampling and beam {self.beam} means beam search; leave one of them out"
            )
        return self

    @property
    def options(self) -> Options:
        return Options(
            forbid_unk=self.forbid_unk,
            no_repeat_ngram=self.no_repeat_ngram,
            coverage=self.coverage_penalty,
            penalty=LengthPenalty(self.length_penalty, self.length_form),
        )

    @property
    def sampler(self) -> Sampler | None:
        """How to sample; None for greedy and beam search."""
        return None if self.temperature is None else Sampler(self.temperature, self.top_k, self.top_p)

    def limits(self, lengths: Int[Tensor, "sentence"], most: int | None = None) -> Int[Tensor, "sentence"]:
        """Largest number of tokens of each translation, from the length of its source; on the same device."""
        if isinstance(self.longest, int):
            limits = torch.full_like(lengths, self.longest, dtype=torch.long)
        else:
            limits = (lengths * self.longest.factor).ceil().long() + self.longest.offset
        return limits.clamp(max=MOST["longest"] if most is None else min(most, MOST["longest"]))
