"""Random weights that end their sentences: what decoding is timed on where nothing was trained."""

import math

import torch

from regard.lab.bench.textbook import Textbook
from regard.text.special import EOS

KEEPS = 0.95
"""How much of itself the clock keeps at each step."""


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
