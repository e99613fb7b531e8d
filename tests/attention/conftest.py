"""Small sentences for the attention tests: lengths 6, 4, 1 and 0 in 6 positions."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from regard.attention import Attention, build_attention, lengths_to_mask

QUERY, STATE, WIDTH = 6, 6, 8


@dataclass(frozen=True)
class Example:
    """Queries for 5 decoder steps, states, and which of them are real."""

    query: Tensor
    states: Tensor
    real: Tensor

    def build(self, score: str, window: str = "global", **options: int | float | bool) -> Attention:
        """A mechanism of the example's sizes and dtype."""
        torch.manual_seed(1)
        heads = 2 if score == "multi-head" else 1
        widths = {"query_width": QUERY, "state_width": STATE, "width": WIDTH, "heads": heads, "reach": 2}
        module = build_attention(score, window, **{**widths, **options})
        return module.to(self.query.dtype)


def make_example(dtype: torch.dtype) -> Example:
    generator = torch.Generator().manual_seed(7)
    query = torch.randn(4, 5, QUERY, generator=generator, dtype=torch.float64).to(dtype)
    states = torch.randn(4, 6, STATE, generator=generator, dtype=torch.float64).to(dtype)
    return Example(query, states, lengths_to_mask(torch.tensor([6, 4, 1, 0]), 6))


@pytest.fixture
def example() -> Example:
    return make_example(torch.float64)


@pytest.fixture(params=[torch.float64, torch.float32], ids=["float64", "float32"])
def typed_example(request: pytest.FixtureRequest) -> Example:
    return make_example(request.param)
