"""The cache key of captured search steps: whether all steps are the same work, and what it depends on."""

from functools import singledispatch
from typing import Any

from regard.fast.conditions import steps_alike
from regard.fast.graphs.fingerprint import structure, weights_of
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq
from regard.search.ensemble import Ensemble


@singledispatch
def step_key(stepper: Any) -> object | None:
    """A cache key for captured steps: equal as long as a step is the same work on the same weights.

    None if steps differ by their number or in the shape of their state, and for steppers that are not ours.
    """
    return None


@step_key.register
def _(stepper: Seq2Seq) -> object | None:
    """A recurrent decoder's steps are alike unless its window moves; a Transformer's attend to more words each time."""
    decoder = stepper.decoder
    if not isinstance(decoder, RecurrentDecoder) or not steps_alike(decoder):
        return None
    return structure(decoder), weights_of(decoder)


@step_key.register
def _(stepper: Ensemble) -> object | None:
    keys = tuple(step_key(member) for member in stepper.members)
    return None if None in keys else keys
