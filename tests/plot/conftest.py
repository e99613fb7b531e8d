"""Two sentences with hand-written attention, and a function that makes random ones."""

from collections.abc import Callable

import numpy as np
import pytest

from regard.alignment.links import Links
from regard.plot import AttentionMap


@pytest.fixture
def cat() -> AttentionMap:
    """English to French: adjective and noun change places, and "sat" is written twice."""
    source = ["the", "black", "cat", "sat", None]
    target = ["le", "chat", "noir", "était", "assis", None]
    weights = np.array(
        [
            [0.90, 0.04, 0.06, 0.00, 0.00],
            [0.10, 0.15, 0.75, 0.00, 0.00],
            [0.02, 0.93, 0.05, 0.00, 0.00],
            [0.00, 0.00, 0.26, 0.70, 0.04],
            [0.00, 0.00, 0.00, 1.00, 0.00],
            [0.00, 0.00, 0.01, 0.01, 0.98],
        ]
    )
    links = Links.of([(0, 0), (1, 2), (2, 1), (3, 4)], possible=[(3, 3)])
    return AttentionMap(weights, source, target, title="the black cat sat", links=links, languages=("en", "fr"))


@pytest.fixture
def lights() -> AttentionMap:
    """English to Hindi: the verb goes last."""
    weights = np.array([[0.05, 0.06, 0.10, 0.79], [0.41, 0.52, 0.03, 0.04], [0.80, 0.10, 0.05, 0.05]])
    return AttentionMap(weights, ["turn", "off", "the", "lights"], ["लाइट", "बंद", "करो"], languages=("en", "hi"))


@pytest.fixture
def random_map() -> Callable[..., AttentionMap]:
    """Softmaxed noise of any size, with words of one to nine letters."""

    def make(targets: int, sources: int, **more: object) -> AttentionMap:
        generator = np.random.default_rng(targets * 1000 + sources)
        scores = np.exp(2 * generator.normal(size=(targets, sources)))
        words = ["abcdefghi"[: 1 + i % 9] for i in range(max(targets, sources))]
        return AttentionMap(scores / scores.sum(1, keepdims=True), words[:sources], words[:targets], **more)  # type: ignore[arg-type]

    return make
