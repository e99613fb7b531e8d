"""7 · One step of Bahdanau's decoder: a solution."""

# mypy: disable-error-code="no-any-return"

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def decoder_step(
    cell: nn.GRUCell,
    W_s: Float[Tensor, "width hidden"],
    W_h: Float[Tensor, "width state"],
    v: Float[Tensor, " width"],
    word: Float[Tensor, "batch word"],
    before: Float[Tensor, "batch hidden"],
    states: Float[Tensor, "batch source state"],
    real: Bool[Tensor, "batch source"],
) -> tuple[Float[Tensor, "batch hidden"], Float[Tensor, "batch state"], Float[Tensor, "batch source"]]:
    """From s_{t-1} (`before`) and the word written last to s_t, the context and the weights."""
    scores = torch.tanh((before @ W_s.T)[:, None] + states @ W_h.T) @ v
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1)
    context = (weights[..., None] * states).sum(dim=1)
    after = cell(torch.cat([word, context], dim=-1), before)
    return after, context, weights
