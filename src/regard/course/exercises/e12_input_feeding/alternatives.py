"""Exercise 12: other correct ways."""

import torch
from torch import Tensor, nn

from regard.course.exercises.e12_input_feeding.solution import attend


def sentence_by_sentence(cell: nn.GRUCell, W_c: Tensor, sentences: list[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """A function of its own for one sentence; the rows have a batch axis of 1."""

    def one(words: Tensor, states: Tensor) -> Tensor:
        hidden = W_c.shape[0]
        state, vectors = states.new_zeros(1, hidden), [states.new_zeros(1, hidden)]
        for position in range(len(words)):
            state = cell(torch.cat([words[position : position + 1], vectors[-1]], dim=1), state)
            weights = (state @ states.T).softmax(dim=1)
            vectors.append(torch.tanh(torch.cat([weights @ states, state], dim=1) @ W_c.T))
        return torch.cat(vectors[1:])

    return [one(*sentence) for sentence in sentences]


def split_matrix(cell: nn.GRUCell, W_c: Tensor, sentences: list[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """W_c [c; s] as two products."""
    hidden = cell.hidden_size
    decoded = []
    for words, states in sentences:
        fed, state = torch.zeros(hidden, dtype=words.dtype), torch.zeros(hidden, dtype=words.dtype)
        rows = []
        for word in words.unbind(0):
            state = cell(torch.hstack((word, fed)), state)
            fed = (W_c[:, :hidden] @ attend(state, states) + W_c[:, hidden:] @ state).tanh()
            rows.append(fed)
        decoded.append(torch.stack(rows))
    return decoded
