"""Looking words up in an embedding."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.registry import replaceable


@replaceable
def look_up(embedding: nn.Embedding, words: Int[Tensor, "*words"]) -> Float[Tensor, "*words width"]:
    """`embedding(words)`."""
    found: Tensor = embedding(words)
    return found
