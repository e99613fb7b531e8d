"""Blocks find the same of equal values as the whole row."""

import pytest
import torch

from regard.search.scoring import best


@pytest.mark.parametrize("vocabulary", [640, 643])
@pytest.mark.parametrize("count", [1, 2])
def test_of_equal_values_the_lowest_id_is_found(vocabulary: int, count: int) -> None:
    scores = torch.zeros(4, vocabulary)
    scores[0, [70, 500, 130]] = 1.0
    scores[1, [vocabulary - 1, vocabulary - 2]] = 1.0
    scores[2, 300] = 2.0
    values, ids = best(scores, count)
    wanted = scores.sort(dim=1, descending=True, stable=True)
    assert ids.tolist() == wanted.indices[:, :count].tolist()
    assert values.tolist() == wanted.values[:, :count].tolist()


@pytest.mark.parametrize("column", [5, 642])
def test_not_a_number_is_found(column: int) -> None:
    scores = torch.zeros(2, 643)
    scores[1, column] = float("nan")
    assert torch.tensor(best(scores, 1)[0]).isnan().flatten().tolist() == [False, True]
