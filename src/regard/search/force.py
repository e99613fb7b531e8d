"""Forced decoding: score a given target and collect where the model looks while it is made to say it."""

from collections.abc import Sequence
from typing import Any

import torch

from regard.search.greedy import greedy_search
from regard.search.hypothesis import Hypothesis
from regard.search.search_options import Options
from regard.search.stepper import Stepper


def forced_search(
    stepper: Stepper,
    source: Any,
    targets: Sequence[Sequence[int]],
    *,
    device: torch.device | str = "cpu",
    options: Options | None = None,
) -> list[Hypothesis]:
    """Each target as the hypothesis it would have been: tokens without BOS, with EOS where its row is wanted."""
    limits = torch.tensor([len(target) for target in targets], dtype=torch.long, device=device)
    return greedy_search(stepper, source, limits, options=options, prefixes=targets)
