"""`Options`, which all searches share: special ids, forbidden tokens, and how hypotheses are scored.

Nothing is checked here: `SearchConfig` checks the values of recipes, options and requests.
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class LengthPenalty:
    """Divides a score by a growing function of the length: every further token lowers the sum.

    power:  lp(n) = n^alpha                (alpha 1: the mean log-probability)
    gnmt:   lp(n) = ((5 + n) / 6)^alpha    (Wu et al. 2016, eq. 14)

    n counts EOS. alpha 0 leaves the sum as it is.
    """

    alpha: float = 1.0
    form: Literal["power", "gnmt"] = "power"

    def divisor(self, length: int) -> float:
        """lp(length); it never falls as the length grows, and the stopping rule of beam search relies on that."""
        length = max(length, 1)
        base = float(length) if self.form == "power" else (5 + length) / 6
        return float(base**self.alpha)

    def normalise(self, score: float, length: int) -> float:
        return score / self.divisor(length)


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

    @property
    def forbidden(self) -> tuple[int, ...]:
        """Ids that no hypothesis ever contains."""
        return (self.pad, self.bos, self.unk) if self.forbid_unk else (self.pad, self.bos)
