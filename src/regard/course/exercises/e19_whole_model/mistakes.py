"""Exercise 19: wrong ways to put the parts together that no edit of the solution makes."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor

from regard.course.exercises.e19_whole_model.model_parts import Parts


def not_packed(parts: Parts, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The network reads on through the padding, and backwards it begins there."""
    states, hidden = parts.encoder(parts.source_words(source))
    return states, torch.tanh(parts.bridge(hidden[1]))


def not_packed_but_masked(parts: Parts, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = parts.encoder(parts.source_words(source))
    real = torch.arange(source.shape[1]) < lengths[:, None]
    return states * real[..., None], torch.tanh(parts.bridge(hidden[1]))
