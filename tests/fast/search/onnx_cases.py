"""Problems for the search inside a graph: in float64 the same weights run in torch, step by step."""

import torch

from export.graphs import onnx_model
from fast.cases import Case, Problem
from models.zoo import build, recurrent, sentences
from regard.search import Options, beam_search, greedy_search


def search(device: torch.device, dtype: torch.dtype, beam: int) -> Problem:
    torch.manual_seed(0)
    model, source, limits = build(recurrent()).eval(), sentences([5, 6, 7, 8, 3], [9, 4, 3]), torch.tensor([8, 3])
    stepper = model.double() if dtype == torch.float64 else onnx_model(model.float())
    if beam == 1:
        return Problem(lambda: greedy_search(stepper, source, limits, options=Options()))
    return Problem(lambda: beam_search(stepper, source, limits, beam=beam, nbest=2))


CASES = [
    Case("greedy_in_graph", "two sentences", lambda *where: search(*where, 1), dtypes=(torch.float32,)),
    Case("beam_in_graph", "two sentences", lambda *where: search(*where, 4), dtypes=(torch.float32,)),
]
