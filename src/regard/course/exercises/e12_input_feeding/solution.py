"""12 · Input feeding: a solution."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def attend(query: Float[Tensor, " hidden"], states: Float[Tensor, "source hidden"]) -> Float[Tensor, " hidden"]:
    """The context of dot attention, from exercise 11, for one step of one sentence."""
    return torch.softmax(states @ query, dim=-1) @ states


def decode(
    cell: nn.GRUCell,
    W_c: Float[Tensor, "hidden twice_hidden"],
    sentences: list[tuple[Float[Tensor, "target word"], Float[Tensor, "source hidden"]]],
) -> list[Float[Tensor, "target hidden"]]:
    """The attentional vectors of every sentence; the cell reads [word; the last attentional vector]."""
    decoded = []
    for words, states in sentences:
        state = fed = words.new_zeros(cell.hidden_size)
        vectors = []
        for word in words:
            state = cell(torch.cat([word, fed]), state)
            fed = torch.tanh(W_c @ torch.cat([attend(state, states), state]))
            vectors.append(fed)
        decoded.append(torch.stack(vectors))
    return decoded
