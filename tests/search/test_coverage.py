"""The coverage penalty: its formula, its effect on ranking, and that stopping early misses no better hypothesis."""

import math

import numpy as np
import pytest
import torch

from regard.search import Options, SearchConfig, beam_search, decode, forced_search
from regard.search.decode import UNSEEN, coverage_penalty

from .recurrent import PAD, Recurrent, limits, sources


def test_the_formula() -> None:
    seen = np.array([0.5, 1.7, 0.0])
    assert coverage_penalty(seen, 0.2) == pytest.approx(0.2 * (math.log(0.5) + math.log(UNSEEN)))
    assert coverage_penalty(np.array([1.0, 3.0]), 0.2) == 0.0


def merits(model: Recurrent, source: torch.Tensor, limit: int, weight: float) -> list[tuple[float, tuple[int, ...]]]:
    """Every finished output of one sentence, best first, its penalty counted from its own attention."""
    from .test_beam import every_output

    outputs = every_output(model.readout.out_features, limit)
    scored = forced_search(model, source.expand(len(outputs), -1), outputs)
    length = int((source != PAD).sum())
    ranked = []
    for one in scored:
        assert one.weights is not None
        seen = one.weights.mean(dim=(0, 1)).sum(dim=0)[:length].numpy()
        ranked.append((one.normalised + coverage_penalty(seen, weight), one.tokens))
    return sorted(ranked, reverse=True)


@pytest.mark.parametrize("weight", [0.05, 0.5, 3.0])
def test_a_wide_beam_finds_what_exhaustive_search_finds(weight: float) -> None:
    changed = 0
    for seed in range(4):
        model, source = Recurrent(6, seed, sharpness=6.0), sources(3, seed)
        lengths, most = (source != PAD).sum(dim=1), limits(5, 3, 4)
        options = Options(coverage=weight)
        found = beam_search(model, source, most, beam=400, nbest=4, options=options, lengths=lengths)
        plain = beam_search(model, source, most, beam=400, nbest=4)
        for row, limit in enumerate(most.tolist()):
            expected = merits(model, source[row : row + 1], limit, weight)[:4]
            assert [one.tokens for one in found[row]] == [tokens for _, tokens in expected]
            assert [one.normalised for one in found[row]] == pytest.approx([merit for merit, _ in expected], abs=1e-4)
            changed += found[row][0].tokens != plain[row][0].tokens
    assert changed or weight < 1


def test_a_config_enables_it() -> None:
    model, source = Recurrent(6, 1, sharpness=6.0), sources(3, 1)
    lengths = (source != PAD).sum(dim=1)
    config = SearchConfig(beam=5, coverage_penalty=2.0)
    direct = beam_search(model, source, config.limits(lengths), beam=5, options=Options(coverage=2.0), lengths=lengths)
    found = decode(model, source, lengths, config)
    assert [one[0].tokens for one in found] == [one[0].tokens for one in direct]
    assert all(one[0].normalised <= one[0].score / len(one[0].tokens) + 1e-9 for one in found)
