"""`Translator.inside(text)`: encoder states and logits of one sentence, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from regard.models.seq2seq import Seq2Seq
from regard.runtime.source_text import Padded
from regard.text.special import BOS


@dataclass(frozen=True, eq=False)
class Inside:
    """The values that a model computes for one sentence before softmax and search.

    `states` [source piece, width] are the encoder's; `logits` [target piece, vocabulary] those that each target piece,
    EOS included, was chosen from, given the pieces before it. `target_ids` are the columns of these pieces.
    """

    states: Float[np.ndarray, "source state"]
    logits: Float[np.ndarray, "target vocabulary"]
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    target_ids: tuple[int, ...]


@torch.inference_mode()
def compute_inside(
    model: Seq2Seq, source: Padded, target: Sequence[int]
) -> tuple[Float[np.ndarray, "source state"], Float[np.ndarray, "target vocabulary"]]:
    """The states of the first sentence of a batch, and its logits while the model is forced to write `target`."""
    encoded = model.encoder(source.source, source.source_lengths)
    before = torch.tensor([[BOS, *target[:-1]]], dtype=torch.long, device=model.device)
    logits = model.logits(model(source, before).features)
    length = int(source.source_lengths[0])
    return encoded.states[0, :length].float().cpu().numpy(), logits[0].float().cpu().numpy()
