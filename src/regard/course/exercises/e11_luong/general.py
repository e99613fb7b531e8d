"""Exercise 11: the score that luong_step is given."""

from dataclasses import dataclass

from torch import Tensor

from regard.attention.multiplicative.functional import dot_scores


@dataclass(frozen=True)
class General:
    """A score that is given to the step."""

    W_a: Tensor

    def __call__(self, query: Tensor, states: Tensor) -> Tensor:
        return dot_scores((query @ self.W_a)[:, None], states)[:, 0]
