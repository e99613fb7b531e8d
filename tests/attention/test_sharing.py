"""Rows that share a sentence's memory see what each would see with a copy of its own."""

from itertools import product

import pytest
import torch

from regard.attention.build import SCORES, WINDOWS, build_attention
from regard.attention.protocol import Attention, Memory
from regard.attention.sharing import Owners, look, owners_after

CHOICES = [(score, window) for score, window in product(SCORES, WINDOWS) if score != "none" or window == "global"]
SELECTIONS = {
    "every sentence thrice": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
    "some rows are gone": [0, 0, 1, 1, 1, 2, 3, 3],
    "some sentences are gone": [1, 1, 3, 3, 3],
    "one row each": [0, 1, 2, 3],
    "one row each, one gone": [0, 2, 3],
    "not neighbours": [2, 0, 2, 1],
    "nobody": [],
}


def example(score: str, window: str) -> tuple[Attention, Memory]:
    torch.manual_seed(0)
    heads = 2 if score == "multi-head" else 1
    attention = build_attention(score, window, query_width=6, state_width=6, width=8, heads=heads, reach=1).double()
    states = torch.randn(4, 5, 6, dtype=torch.float64)
    real = torch.arange(5) < torch.tensor([5, 3, 1, 4])[:, None]
    return attention, attention.prepare(states, real)


@pytest.mark.parametrize("rows", SELECTIONS.values(), ids=SELECTIONS.keys())
@pytest.mark.parametrize(("score", "window"), CHOICES)
def test_as_with_copies(score: str, window: str, rows: list[int]) -> None:
    attention, memory = example(score, window)
    chosen = torch.tensor(rows, dtype=torch.long)
    query = torch.randn(len(rows), 1, 6, dtype=torch.float64)
    owners, kept = owners_after(None, chosen, 4)
    fewer = memory if kept is None else memory.select(kept)
    shared = look(attention, query, fewer, owners, 2)
    copied = attention(query, memory.select(chosen), 2)
    torch.testing.assert_close(shared.context, copied.context)
    torch.testing.assert_close(shared.weights, copied.weights)
    assert shared.context.shape == copied.context.shape
    if shared.weights is not None and copied.weights is not None:
        given = copied.weights.flip(-1)
        edited = look(attention, query, fewer, owners, 2, weights=given)
        torch.testing.assert_close(edited.context, attention(query, memory.select(chosen), 2, weights=given).context)


def test_nothing_is_copied_while_sentences_stay() -> None:
    owners, kept = owners_after(None, torch.tensor([0, 0, 1, 1, 1]), 2)
    assert kept is None
    assert owners is not None
    assert owners.beams == 3
    again, kept = owners_after(owners, torch.tensor([1, 1, 0, 4, 2, 2]), 2)
    assert kept is None
    assert again is not None
    assert again.sentence.tolist() == [0, 0, 0, 1, 1, 1]
    assert again.place is None
    gone, kept = owners_after(again, torch.tensor([3, 5]), 2)
    assert kept is not None
    assert (kept.tolist(), gone is not None and gone.sentence.tolist()) == ([1], [0, 0])
    alone, kept = owners_after(gone, torch.tensor([1]), 1)
    assert alone is None
    assert kept is None


def test_each_row_can_have_a_memory_of_its_own() -> None:
    _, memory = example("dot", "global")
    owners = Owners(torch.tensor([2, 2, 0]))
    assert torch.equal(owners.spread(memory).values, memory.values[[2, 2, 0]])
