"""`Hypothesis`, one output of a search with its scores and attention, and `LengthPenalty`."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One output of a search; row t of `weights` is where the model looked when it produced token t, EOS included."""

    tokens: tuple[int, ...]
    """The tokens without BOS; the last one is EOS if the model ended it."""
    score: float
    """Sum of the model's log-probabilities."""
    normalised: float
    """`score` over the length penalty, plus the coverage penalty; hypotheses are ranked by it."""
    log_probabilities: tuple[float, ...]
    weights: Float[Tensor, "layer head target source"] | None
    """Source padding included; None when the model has no attention."""
    finished: bool
    """False when the length limit cut it off before EOS."""


@dataclass(frozen=True)
class LengthPenalty:
    """Divides a score by a growing function of the length: every further token lowers the sum.

    power:  lp(n) = n^alpha                (alpha 1: the mean log-probability)
    gnmt:   lp(n) = ((5 + n) / 6)^alpha    (Wu et al. 2016, eq. 14)

    n counts EOS. alpha 0 leaves the sum as it is.
    """

    alpha: float = 1.0
    form: Literal["power", "gnmt"] = "power"

    def __post_init__(self) -> None:
        if not self.alpha >= 0:
            raise ValueError(f"length penalty alpha must be 0 or more, got {self.alpha}; 0 switches it off")

    def divisor(self, length: int) -> float:
        """lp(length); it never falls as the length grows, and the stopping rule of beam search relies on that."""
        length = max(length, 1)
        base = float(length) if self.form == "power" else (5 + length) / 6
        return float(base**self.alpha)

    def normalise(self, score: float, length: int) -> float:
        return score / self.divisor(length)
