"""Problems for search on a device: the same hypotheses, ties included."""

import torch

from fast.cases import Case, Problem
from models.zoo import Sentences, build, recurrent, sentences
from regard.search import Options, beam_search, greedy_search

ROWS = ([5, 6, 7, 8, 3], [9, 4, 3], [10, 8, 6, 3])
LIMITS = torch.tensor([8, 3, 9])


def search(device: torch.device, dtype: torch.dtype, beam: int) -> Problem:
    torch.manual_seed(0)
    model, source = build(recurrent()).to(device, dtype).eval(), sentences(*ROWS)
    moved, limits = Sentences(source.source.to(device), source.source_lengths.to(device)), LIMITS.to(device)
    if beam == 1:
        return Problem(lambda: greedy_search(model, moved, limits, options=Options()))
    return Problem(lambda: beam_search(model, moved, limits, beam=beam, nbest=2))


CASES = [
    Case("greedy_captured", "three sentences", lambda *where: search(*where, 1), "cuda"),
    Case("beam_captured", "three sentences", lambda *where: search(*where, 4), "cuda"),
]
