"""A mechanism with a parameter that nothing uses, named in a recipe as training.idle:Idle."""

import torch
from torch import nn

from regard.attention import BahdanauAttention


class Idle(BahdanauAttention):
    """Its `spare` gets no gradient: workers must not wait for one."""

    def __init__(self, query_width: int, state_width: int, width: int) -> None:
        super().__init__(query_width, state_width, width)
        self.spare = nn.Parameter(torch.ones(3))
