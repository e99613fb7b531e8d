"""Somebody's own mechanism, named in a recipe as package.module:Class: additive attention that looks more sharply."""

from typing import Any

from torch import Tensor

from regard.attention import Attended, BahdanauAttention, Memory


class Sharper(BahdanauAttention):
    """A subclass, so that whoever takes it for its parent computes something else."""

    def forward(self, query: Tensor, memory: Memory, position: int = 0, **options: Any) -> Attended:
        return super().forward(3 * query, memory, position, **options)
