"""Exercise 17: a function put where a trained translator had its attention, and a picture of what it looked at."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Attended, BahdanauAttention, Memory
from regard.bundle.store import Bundle
from regard.plot import AttentionMap, heatmaps, save
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator

Attend = Callable[..., tuple[Tensor, Tensor]]
SENTENCES = (
    "the black cat sat on the mat",
    "jane visits africa in september",
    "jane sees the black bird in africa",
    "i love you",
    "they did not buy bread",
    "she does not want to go to the united states tomorrow",
    "turn off the lights",
    "the good cheese is cold",
)
DRAWN = 2
"""The sentence in the picture: an adjective changes places, an article looks at its noun."""


class Transplant(nn.Module):
    """The translator's attention as the decoder knows it, with another function at work."""

    def __init__(self, original: BahdanauAttention, attend: Attend) -> None:
        super().__init__()
        self.query_width, self.value_width = original.query_width, original.value_width
        self.W_s, self.W_h, self.v = original.W_s, original.W_h, original.v
        self.attend = attend

    def prepare(self, states: Float[Tensor, "batch source state"], real: Bool[Tensor, "batch source"]) -> Memory:
        return Memory(states, states, real)

    def forward(
        self,
        query: Float[Tensor, "batch target query"],
        memory: Memory,
        position: int = 0,
        *,
        weights: Float[Tensor, "batch head target source"] | None = None,
        trace: bool = False,
    ) -> Attended:
        """One decoder step; the learner's function knows nothing of heads and steps."""
        context, seen = self.attend(query[:, 0], memory.values, memory.real, self.W_s, self.W_h, self.v)
        return Attended(context[:, None], seen[:, None, None])


def transplanted(bundle: Bundle, attend: Attend) -> Translator:
    """A translator that looks with `attend`; the bundle keeps its own."""
    model = copy.deepcopy(bundle.model)
    original = model.decoder.attention
    assert isinstance(original, BahdanauAttention)
    model.decoder.attention = Transplant(original, attend)
    return Translator(replace(bundle, model=model))


def translate(bundle: Bundle, attend: Attend | None = None) -> list[Translation]:
    """All sentences in one batch, with the translator's own attention or another."""
    one = Translator(bundle) if attend is None else transplanted(bundle, attend)
    with torch.inference_mode():
        return one.translate(SENTENCES)


def draw(yours: Translation, own: Translation, path: Path) -> Path:
    """Both heat-maps side by side."""
    return save(heatmaps([_map(yours, "yours"), _map(own, "the translator's own")], columns=2), path)


def _map(translation: Translation, whose: str) -> AttentionMap:
    assert translation.matrix is not None
    weights = np.clip(np.nan_to_num(translation.matrix), 0.0, 1.0)  # an unfinished repair may give anything
    sides = (translation.source_pieces, translation.target_pieces)
    return AttentionMap(weights, *sides, title=f"{whose}: {translation.text}")
