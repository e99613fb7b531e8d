"""Exercise 7: wrong decoder steps that people write."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor, nn

Step = tuple[Tensor, Tensor, Tensor]


def _attend(
    query: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor, states: Tensor, real: Tensor | None
) -> tuple[Tensor, Tensor]:
    scores = torch.tanh((query @ W_s.T)[:, None] + states @ W_h.T) @ v
    if real is not None:
        scores = scores.masked_fill(~real, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights[..., None] * states).sum(dim=1), weights


def _blind(cell: nn.GRUCell, word: Tensor, before: Tensor, states: Tensor) -> Tensor:
    """The cell with zeros where the context belongs."""
    after: Tensor = cell(torch.cat([word, torch.zeros_like(states[:, 0])], dim=-1), before)
    return after


def step_then_look(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    """Luong's order."""
    after = _blind(cell, word, before, states)
    return (after, *_attend(after, W_s, W_h, v, states, real))


def step_look_step(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    context, weights = _attend(_blind(cell, word, before, states), W_s, W_h, v, states, real)
    return cell(torch.cat([word, context], dim=-1), before), context, weights


def look_again_afterwards(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    context, _ = _attend(before, W_s, W_h, v, states, real)
    after = cell(torch.cat([word, context], dim=-1), before)
    return (after, *_attend(after, W_s, W_h, v, states, real))


def context_not_fed(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    return (_blind(cell, word, before, states), *_attend(before, W_s, W_h, v, states, real))


def backwards_input(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    context, weights = _attend(before, W_s, W_h, v, states, real)
    return cell(torch.cat([context, word], dim=-1), before), context, weights


def no_mask(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    context, weights = _attend(before, W_s, W_h, v, states, None)
    return cell(torch.cat([word, context], dim=-1), before), context, weights


def inverted_mask(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> Step:
    context, weights = _attend(before, W_s, W_h, v, states, ~real)
    return cell(torch.cat([word, context], dim=-1), before), context, weights
