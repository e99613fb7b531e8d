"""A custom mechanism, named in a recipe as package.module:Class: additive attention with sharper weights."""

from typing import Any

from torch import Tensor

from regard.attention import Attended, BahdanauAttention, Memory


class Sharper(BahdanauAttention):
    """A subclass with another result: code that treats it as its parent class fails the test."""

    def forward(self, query: Tensor, memory: Memory, position: int = 0, **options: Any) -> Attended:
        return super().forward(3 * query, memory, position, **options)
