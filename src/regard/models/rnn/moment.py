"""What one step of a recurrent decoder leaves behind, and what all of its steps do together."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.protocol import Attended
from regard.models.rnn.state import RecurrentState


@dataclass(frozen=True)
class Moment:
    """One step; its features only if input feeding needed them."""

    output: Float[Tensor, "batch units"]
    attended: Attended
    features: Float[Tensor, "batch feature"] | None
    state: RecurrentState


def gathered(moments: Sequence[Moment]) -> tuple[Tensor, ...]:
    """Outputs and contexts of all steps; weights, if it weighs; features, if they are fed: each begins with the batch.

    `[batch, target, units]`, `[batch, target, value]`, `[batch, head, target, source]`, `[batch, target, feature]`.
    """
    outputs = torch.stack([moment.output for moment in moments], dim=1)
    contexts = torch.cat([moment.attended.context for moment in moments], dim=1)
    weights = [moment.attended.weights for moment in moments if moment.attended.weights is not None]
    features = [moment.features for moment in moments if moment.features is not None]
    seen = [torch.cat(weights, dim=2)] if weights else []
    return outputs, contexts, *seen, *([torch.stack(features, dim=1)] if features else [])
