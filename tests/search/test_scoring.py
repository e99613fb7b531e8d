"""`best` without a full sort equals the full sort."""

import numpy as np
import pytest
import torch

from regard.search.scoring import best


@pytest.mark.parametrize("vocabulary", [7, 64, 1000, 1024, 4099])
@pytest.mark.parametrize("levels", [3, 40, 10**6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_as_sorted(vocabulary: int, levels: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(levels)
    scores = -torch.randint(0, levels, (20, vocabulary), generator=generator).to(dtype)
    scores[0] = -torch.inf
    scores[1, : vocabulary // 2] = -torch.inf
    scores[2, -1] = 5.0
    exact = scores.sort(dim=1, descending=True, stable=True)
    for count in (1, 2, 5, 12):
        values, ids = best(scores, count)
        assert np.array_equal(values, exact.values[:, :count].numpy())
        seen = values > -np.inf
        assert np.array_equal(ids[seen], exact.indices[:, :count].numpy()[seen])


def test_a_nan_is_passed_on() -> None:
    scores = torch.zeros(2, 3000)
    scores[1, 2999] = torch.nan
    assert np.isnan(best(scores, 5)[0]).any(axis=1).tolist() == [False, True]
