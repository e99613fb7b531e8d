"""`Options`, which all searches share: special ids, forbidden tokens, and how hypotheses are scored."""

from dataclasses import dataclass, field

from regard.search.hypothesis import LengthPenalty


@dataclass(frozen=True)
class Options:
    """The defaults are the special ids of `regard`'s tokenizers."""

    pad: int = 0
    unk: int = 1
    bos: int = 2
    eos: int = 3
    forbid_unk: bool = False
    no_repeat_ngram: int = 0
    """No n-gram of this size occurs twice in one hypothesis; 0 allows all."""
    penalty: LengthPenalty = field(default_factory=LengthPenalty)
    coverage: float = 0.0
    """Weight of the coverage penalty of beam search (Wu et al. 2016, eq. 14); 0 is off."""
    weights: bool = True
    """False: hypotheses have no attention."""

    def __post_init__(self) -> None:
        if self.no_repeat_ngram < 0:
            raise ValueError(f"no_repeat_ngram must be 0 (off) or more, got {self.no_repeat_ngram}")
        if not self.coverage >= 0:
            raise ValueError(f"coverage must be 0 (off) or more, got {self.coverage}")

    @property
    def forbidden(self) -> tuple[int, ...]:
        """Ids that no hypothesis ever contains."""
        return (self.pad, self.bos, self.unk) if self.forbid_unk else (self.pad, self.bos)
