"""`Hypothesis`, one output of a search with its scores and attention, and `Trail`, which collects the attention."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
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


class Trail:
    """Collects the attention of every step and returns the rows that belong to each hypothesis.

    Rows stay on their device, step after step; a hypothesis remembers the numbers of its rows (its path).
    """

    def __init__(self) -> None:
        self._parts: list[Tensor] = []
        self._rows = 0

    def add(self, weights: Float[Tensor, "rows layer head source"] | None, rows: int) -> Int[np.ndarray, "rows"]:
        """Keep one step's weights; returns the numbers of its rows."""
        numbers = np.arange(self._rows, self._rows + rows)
        self._rows += rows
        if weights is not None:
            self._parts.append(weights)
        return numbers

    def collect(
        self, paths: Sequence[Int[np.ndarray, "_target"]]
    ) -> list[Float[Tensor, "layer head _target source"] | None]:
        """The weights along each path, in float32 at least; None throughout when the model gave none."""
        if not self._parts or not paths:
            return [None] * len(paths)
        flat = torch.cat(self._parts)
        index = torch.as_tensor(np.concatenate(paths), device=flat.device)
        chosen = flat.index_select(0, index).to(torch.promote_types(flat.dtype, torch.float32))
        lengths = [len(path) for path in paths]
        return [rows.permute(1, 2, 0, 3).contiguous() for rows in torch.split(chosen, lengths)]
