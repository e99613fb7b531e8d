"""Beam search as texts write it: one sentence at a time, its few hypotheses side by side, lists and a sort."""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from regard.lab.bench.textbook import Textbook
from regard.text.special import BOS, EOS, PAD

Hidden = Tensor | tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Found:
    """The words of a hypothesis, EOS included if it has one, and the sum of their log-probabilities."""

    words: tuple[int, ...]
    score: float

    @property
    def mean(self) -> float:
        return self.score / len(self.words)


@torch.no_grad()
def textbook_search(textbook: Textbook, source: Int[Tensor, " words"], beam: int, limit: int) -> Found:
    """The hypothesis with the best mean log-probability; one that the limit cut off only if none has ended.

    It stops when no living hypothesis can overtake the best of those that ended: scores only fall.
    """
    states = textbook.read(source[None], torch.tensor([len(source)]))
    hidden: Hidden = textbook.start(states)
    living, ended, cut = [Found((), 0.0)], list[Found](), list[Found]()
    while living:
        rows = len(living)
        words = torch.tensor([one.words[-1] if one.words else BOS for one in living], device=source.device)
        many = states.expand(rows, -1, -1)
        real = torch.ones(many.shape[:2], dtype=torch.bool, device=source.device)
        logits, hidden = textbook.step(words, hidden, many, real)
        log_probabilities = torch.log_softmax(logits, dim=-1)
        log_probabilities[:, [PAD, BOS]] = -torch.inf
        before = torch.tensor([one.score for one in living], dtype=torch.float64, device=source.device)
        best = (before[:, None] + log_probabilities).flatten().topk(beam)
        grown, parents = [], []
        for score, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            parent, word = divmod(place, logits.size(1))
            one = Found((*living[parent].words, word), score)
            if word == EOS:
                ended.append(one)
            elif len(one.words) == limit:
                cut.append(one)
            else:
                grown.append(one)
                parents.append(parent)
        best_ended = max((one.mean for one in ended), default=-float("inf"))
        if all(one.score / limit <= best_ended for one in grown):
            break
        living, hidden = grown, _rows(hidden, torch.tensor(parents, device=source.device))
    return max(ended or cut, key=lambda one: one.mean)


def _rows(hidden: Hidden, rows: Tensor) -> Hidden:
    if isinstance(hidden, tuple):
        return hidden[0].index_select(1, rows), hidden[1].index_select(1, rows)
    return hidden.index_select(1, rows)
