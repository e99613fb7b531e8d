"""One call for whatever search a config describes."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from regard.search.beam import beam_search
from regard.search.greedy import greedy_search
from regard.search.hypothesis import Hypothesis
from regard.search.sample import sample_search
from regard.search.search_config import SearchConfig
from regard.search.search_options import Options
from regard.search.stepper import Stepper


def decode(
    stepper: Stepper,
    source: Any,
    lengths: Int[Tensor, "sentence"],
    config: SearchConfig,
    *,
    most: int | None = None,
    options: Options | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """Hypotheses for each sentence, best first (sampling: as drawn). `lengths` are those of the sources, on the
    model's device; `most` tokens are all that the model can write; `options` replaces what the config says of them;
    without a generator `config.seed` starts one.
    """
    limits = config.limits(lengths, most)
    options = options or config.options
    if config.sampler is not None:
        generator = generator or torch.Generator(device=lengths.device).manual_seed(config.seed)
        return sample_search(
            stepper, source, limits, generator, sampler=config.sampler, samples=config.nbest, options=options,
            prefixes=prefixes,
        )  # fmt: skip
    if config.beam == 1:
        return [[one] for one in greedy_search(stepper, source, limits, options=options, prefixes=prefixes)]
    return beam_search(
        stepper, source, limits, beam=config.beam, nbest=config.nbest, options=options, prefixes=prefixes,
        lengths=lengths,
    )  # fmt: skip
