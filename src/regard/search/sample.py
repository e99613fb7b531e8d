"""The strategy of sampling: tokens drawn from the model's distribution, sharpened or cut off on request."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.search.scoring import best
from regard.search.strategy import Candidates, Live, every_row


@dataclass(frozen=True)
class Sampler:
    """Temperature first, then the `top_k` most probable, then the fewest of these that reach the mass `top_p`."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def distribution(self, scores: Float[Tensor, "rows vocabulary"]) -> Float[Tensor, "rows vocabulary"]:
        """The probabilities that tokens are drawn with."""
        heated = scores / self.temperature
        if self.top_k is None and self.top_p is None:
            return torch.softmax(heated, dim=-1)
        if self.top_k is not None:
            ordered, ids = (torch.as_tensor(part, device=scores.device) for part in best(heated, self.top_k))
            ordered = ordered.to(heated.dtype)
        else:
            ordered, ids = heated.sort(dim=-1, descending=True, stable=True)
        probabilities = torch.softmax(ordered, dim=-1)
        if self.top_p is not None:
            before = probabilities.cumsum(dim=-1) - probabilities
            reached = before >= self.top_p
            reached[:, 0] = False  # rounding must never remove the most probable token
            probabilities = probabilities.masked_fill(reached, 0.0)
            probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
        return torch.zeros_like(scores).scatter(-1, ids, probabilities)


class Sampling:
    """Draws one token for each row."""

    def __init__(self, sampler: Sampler, generator: torch.Generator) -> None:
        self._sampler, self._generator = sampler, generator

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        # multinomial raises for a row of NaN or of -inf alone: draw any token; its value makes the loop report the row.
        lost = ~scores.amax(dim=-1, keepdim=True).isfinite()
        probabilities = self._sampler.distribution(scores.masked_fill(lost, 0.0))
        index = torch.multinomial(probabilities, 1, generator=self._generator)
        drawn = torch.where(lost, scores.amax(dim=-1, keepdim=True), scores.gather(1, index))
        values, ids = drawn[:, 0].double().cpu().numpy(), index[:, 0].cpu().numpy()
        rows = np.flatnonzero(~np.isneginf(values))
        return Candidates(rows, ids[rows], values[rows])

    can_still_win = staticmethod(every_row)
