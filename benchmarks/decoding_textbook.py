"""The textbook decoder with random weights that end their sentences, and its beam search one sentence at a time."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from regard.lab.bench.textbook import Textbook
from regard.text.special import BOS, EOS, PAD

Hidden = Tensor | tuple[Tensor, Tensor]

KEEPS = 0.95
"""The share of its value that the clock unit keeps at each step."""


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


@torch.no_grad()
def wind(textbook: Textbook, words: int, *, sharpness: float = 4.0, gain: float = 60.0) -> None:
    """Make the GRU decoder's first unit a clock that lets sentences end after about `words` words.

    The unit goes from 0 towards 1, s_t = 1 - KEEPS^t, whatever is read or written; the logit of EOS grows with it and
    is 0 at `words`. All other logits stay random; `sharpness` is about their spread.
    """
    if textbook.work.cell != "gru":
        raise ValueError(f"only a GRU can be given a clock, not cell '{textbook.work.cell}'")
    units = textbook.work.units
    recurrence, output = dict(textbook.decoder.named_parameters()), textbook.output
    state = 1 - KEEPS**words
    output.weight.mul_(sharpness * math.sqrt(3) / 0.5)
    for weight in (recurrence["weight_ih_l0"], recurrence["weight_hh_l0"]):
        for gate in range(3):
            weight[gate * units] = 0.0
    bias, other = recurrence["bias_ih_l0"], recurrence["bias_hh_l0"]
    keep, always = math.log(KEEPS / (1 - KEEPS)), 20.0
    for gate, value in enumerate((always, keep, always)):  # reset, update, new
        bias[gate * units], other[gate * units] = value, 0.0
    output.weight[EOS] *= 0.3
    output.weight[EOS, 0] = gain
    output.bias[EOS] = -gain * state + 3 * sharpness
