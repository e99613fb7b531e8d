"""Problems for rows that share the memory of their sentence."""

from collections.abc import Callable
from functools import partial
from itertools import product

import torch

from fast.cases import Case, Problem
from regard.attention import SCORES, WINDOWS, build_attention
from regard.attention.attend import select_sentences
from regard.attention.protocol import Attended
from regard.models.rnn.decoder import look
from regard.models.transformer.decoder import look_at_source

CHOICES = [(score, window) for score, window in product(SCORES, WINDOWS) if score != "none" or window == "global"]
SELECTIONS = {
    "every sentence thrice": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
    "some rows are gone": [0, 0, 1, 1, 1, 2, 3, 3],
    "some sentences are gone": [1, 1, 3, 3, 3],
    "not neighbours": [2, 0, 2, 1],
    "no rows": [],
}


def shared(
    score: str,
    window: str,
    rows: list[int],
    given: bool,
    device: torch.device,
    dtype: torch.dtype,
    look: Callable[..., Attended] = look,
) -> Problem:
    """The memory as selected, and what attention gives for it; the third of four sentences is blank."""
    torch.manual_seed(0)
    heads = 2 if score == "multi-head" else 1
    attention = build_attention(score, window, query_width=6, state_width=6, width=8, heads=heads, reach=1)
    attention = attention.to(device, dtype)
    states = torch.randn(4, 5, 6).to(device, dtype)
    real = torch.arange(5, device=device) < torch.tensor([5, 3, 0, 4], device=device)[:, None]
    states[~real] = torch.nan
    chosen = torch.tensor(rows, dtype=torch.long, device=device)
    query = torch.randn(len(rows), 1, 6).to(device, dtype).requires_grad_()
    weights = torch.rand(len(rows), heads, 1, 5).to(device, dtype) if given else None

    def run() -> object:
        (memory,) = select_sentences((attention.prepare(states, real),), chosen)
        return memory, look(attention, query, memory, 2, weights=weights)

    uses = score != "none" and not given
    return Problem(run, {"query": query} if uses and rows else {})


ALL = next(iter(SELECTIONS.values()))
CASES = [
    *(
        Case("look_shared", f"{score}, {window}, {name}", partial(shared, score, window, rows, False))
        for score, window in CHOICES
        for name, rows in SELECTIONS.items()
    ),
    Case("look_shared", "given weights", partial(shared, "additive", "global", ALL, True)),
    *(
        Case("look_at_source_shared", name, partial(shared, "multi-head", "global", rows, False, look=look_at_source))
        for name, rows in SELECTIONS.items()
    ),
    *(
        Case("share_sentences", name, partial(shared, "dot", "global", rows, False), dtypes=(torch.float32,))
        for name, rows in {**SELECTIONS, "one row each": [0, 1, 2, 3], "one row each, one gone": [0, 2, 3]}.items()
    ),
]
