"""The state of a beam search on a device: the choice of each step as tensor operations, read back once."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.scoring import log_probabilities
from regard.search.search_options import Options


@dataclass(frozen=True)
class Slots:
    """The state of the beam: each sentence has `beam` slots, live or dead."""

    limit: Int[Tensor, " sentence"]
    divisor: Float[Tensor, " sentence"]
    """The largest divisor that a score can still get."""
    score: Float[Tensor, "sentence slot"]
    """The scores of living hypotheses; -inf in dead slots."""
    merits: Float[Tensor, "sentence nbest"]
    """The scores of the best finished hypotheses, descending; -inf where there are fewer."""
    ended: Bool[Tensor, " sentence"]
    """Whether any of its hypotheses has ended."""

    @classmethod
    def begin(
        cls, limits: Int[Tensor, " sentence"], longest: Sequence[int], options: Options, beam: int, nbest: int
    ) -> "Slots":
        """One living slot for each sentence; `longest` are the limits on the host."""
        device, sentences = limits.device, len(longest)
        score = torch.full((sentences, beam), -torch.inf, dtype=torch.float64, device=device)
        score[:, 0] = 0.0
        divisor = [options.penalty.divisor(limit) for limit in longest]
        return cls(
            limits,
            torch.tensor(divisor, dtype=torch.float64, device=device),
            score,
            torch.full((sentences, nbest), -torch.inf, dtype=torch.float64, device=device),
            torch.zeros(sentences, dtype=torch.bool, device=device),
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.limit, self.divisor, self.score, self.merits, self.ended

    @property
    def living(self) -> Bool[Tensor, "sentence slot"]:
        return self.score > -torch.inf


@dataclass(frozen=True)
class BeamChoice:
    """The choice of one step, best first in each sentence, and which hypotheses ended."""

    parent: Int[Tensor, "sentence slot"]
    token: Int[Tensor, "sentence slot"]
    value: Float[Tensor, "sentence slot"]
    score: Float[Tensor, "sentence slot"]
    over: Bool[Tensor, "sentence slot"]
    wrong: Int[Tensor, " sentence"]
    """1: not a number, 2: no token was possible."""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.parent, self.token, self.value, self.score, self.over, self.wrong


def choose(
    logits: Float[Tensor, "rows vocabulary"],
    slots: Slots,
    length: Int[Tensor, " 1"],
    divisor: Float[Tensor, " 1"],
    options: Options,
) -> tuple[BeamChoice, Slots]:
    """The best continuations of each sentence, one for each slot; ties: the earlier slot, then the lower id.

    `length` counts the tokens after this step, and `divisor` is its length penalty.
    """
    sentences, beam = slots.score.shape
    scores = log_probabilities(logits)
    for banned in options.forbidden:
        if banned < scores.shape[1]:
            scores[:, banned] = -torch.inf
    values, ids = first_best(scores, beam)
    values, ids = (one.view(sentences, beam, -1) for one in (values.double(), ids))
    living = slots.living
    total = torch.where(living[:, :, None], slots.score[:, :, None] + values, -torch.inf).flatten(1)
    lost = living & scores.amax(dim=1).isnan().view(sentences, beam)
    total, order = total.sort(dim=1, descending=True, stable=True)
    total, order = total[:, :beam], order[:, :beam]
    token, value = ids.flatten(1).gather(1, order), values.flatten(1).gather(1, order)
    possible = total > -torch.inf
    finished = possible & (token == options.eos)
    over = finished | (possible & (slots.limit[:, None] <= length))
    merit = torch.where(finished, total / divisor, -torch.inf)
    nbest = slots.merits.shape[1]
    merits = torch.cat([slots.merits, merit], dim=1).topk(nbest, dim=1).values
    going = possible & ~over & (total / slots.divisor[:, None] > merits[:, -1:])
    wrong = torch.where(lost.any(dim=1), 1, torch.where(living.any(dim=1) & ~possible.any(dim=1) & ~slots.ended, 2, 0))
    choice = BeamChoice(order // values.shape[2], token, value, total, over, wrong)
    score = torch.where(going, total, -torch.inf)
    return choice, Slots(slots.limit, slots.divisor, score, merits, slots.ended | over.any(dim=1))


def first_best(
    scores: Float[Tensor, "rows vocabulary"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """The `count` highest of each row, falling, equal ones by rising id, without a device sync.

    `topk` chooses freely between equal values, so each float32 is combined with its place into one int64, and those
    all differ: the float's bits, mapped so that they rise with it, above the place counted from the end.
    """
    vocabulary = scores.shape[1]
    count = min(count, vocabulary)
    if count == 1:  # argmax is documented to return the first of equal values
        index = scores.argmax(dim=1, keepdim=True)
        return scores.gather(1, index), index
    if scores.dtype != torch.float32:
        best = scores.sort(dim=1, descending=True, stable=True)
        return best.values[:, :count], best.indices[:, :count]
    bits = (scores + 0.0).view(torch.int32)  # -0.0 becomes 0.0, which it equals
    rising = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long()
    behind = torch.arange(vocabulary - 1, -1, -1, device=scores.device)
    index = vocabulary - 1 - ((rising << 32) + behind).topk(count, dim=1).values.bitwise_and(0xFFFFFFFF)
    return scores.gather(1, index), index
