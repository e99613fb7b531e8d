"""Every model, searched without reading anything back at each step, says what the loop on the host finds."""

import pytest
import torch

from models.zoo import EVERY, Config, sentences, shared
from regard.fast.search.device_beam import device_search
from regard.search import Options, beam_search

SOURCES = ([5, 6, 7, 8, 3], [9, 4, 3], [10, 8, 6, 3], [3], [7, 7, 7, 7, 7, 9], [4, 5, 3])
LIMITS = torch.tensor([8, 3, 9, 5, 0, 1])


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_the_same_words(config: Config) -> None:
    model, source = shared(config), sentences(*SOURCES)
    wanted = beam_search(model, source, LIMITS, beam=3, nbest=2)
    found = device_search(model, source, LIMITS, 3, 2, Options(), every=3)
    assert [[one.tokens for one in group] for group in found] == [[one.tokens for one in group] for group in wanted]
