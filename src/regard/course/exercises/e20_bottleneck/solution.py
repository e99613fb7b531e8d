"""20 · Measure the bottleneck: a solution."""

# mypy: disable-error-code="no-any-return"

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import one_hot


def fixed_context(
    query: Float[Tensor, "batch hidden"],
    states: Float[Tensor, "batch source state"],
    real: Bool[Tensor, "batch source"],
) -> tuple[Float[Tensor, "batch state"], Float[Tensor, "batch source"]]:
    """The state of the last real word, and weights that are 1 there and 0 elsewhere."""
    last = real.sum(dim=1) - 1
    weights = one_hot(last, real.shape[1]).to(states.dtype)
    context = (weights[:, :, None] * states).sum(dim=1)
    return context, weights


def quality_by_length(hypotheses: list[list[int]], references: list[list[int]], edges: list[int]) -> list[float | None]:
    """The share of exactly right sequences in each bin of the reference's length; None for an empty bin."""
    bins: list[list[bool]] = [[] for _ in range(len(edges) + 1)]
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        place = sum(len(reference) >= edge for edge in edges)
        bins[place].append(list(hypothesis) == list(reference))
    return [sum(right) / len(right) if right else None for right in bins]


def bottleneck(attention: list[float | None], fixed: list[float | None], cost: float) -> int | None:
    """The first bin in which the fixed vector loses at least `cost`; None if there is none."""
    for place, (one, other) in enumerate(zip(attention, fixed, strict=True)):
        if one is not None and other is not None and one - other >= cost:
            return place
    return None
