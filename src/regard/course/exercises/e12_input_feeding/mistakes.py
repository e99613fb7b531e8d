"""Exercise 12: wrong ways to feed that people write."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.course.exercises.e12_input_feeding.solution import attend

Sentences = list[tuple[Tensor, Tensor]]


def _decode(
    cell: nn.GRUCell,
    W_c: Tensor,
    sentences: Sentences,
    note: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda vector, context, state: vector,
    forget_state: bool = True,
    forget_note: bool = True,
) -> list[Tensor]:
    """The decoder with one thing wrong; `note` chooses what is fed."""
    decoded = []
    state = fed = W_c.new_zeros(cell.hidden_size)
    for words, states in sentences:
        state = state.new_zeros(cell.hidden_size) if forget_state else state
        fed = fed.new_zeros(cell.hidden_size) if forget_note else fed
        vectors = []
        for word in words:
            state = cell(torch.cat([word, fed]), state)
            context = attend(state, states)
            vectors.append(torch.tanh(W_c @ torch.cat([context, state])))
            fed = note(vectors[-1], context, state)
        decoded.append(torch.stack(vectors))
    return decoded


def feeds_context(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, lambda vector, context, state: context)


def feeds_state(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, lambda vector, context, state: state)


def feeds_nothing(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, lambda vector, context, state: torch.zeros_like(vector))


def cuts_the_graph(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, lambda vector, context, state: vector.detach())


def note_not_reset(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, forget_note=False)


def nothing_reset(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, forget_state=False, forget_note=False)


def state_not_reset(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    return _decode(cell, W_c, sentences, forget_state=False)


def backwards_input(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    decoded = []
    for words, states in sentences:
        state = fed = words.new_zeros(cell.hidden_size)
        vectors = []
        for word in words:
            state = cell(torch.cat([fed, word]), state)
            fed = torch.tanh(W_c @ torch.cat([attend(state, states), state]))
            vectors.append(fed)
        decoded.append(torch.stack(vectors))
    return decoded


def backwards_readout(cell: nn.GRUCell, W_c: Tensor, sentences: Sentences) -> list[Tensor]:
    decoded = []
    for words, states in sentences:
        state = fed = words.new_zeros(cell.hidden_size)
        vectors = []
        for word in words:
            state = cell(torch.cat([word, fed]), state)
            fed = torch.tanh(W_c @ torch.cat([state, attend(state, states)]))
            vectors.append(fed)
        decoded.append(torch.stack(vectors))
    return decoded
