"""Problems for a CPU: models prepared for decoding, all weights packed however small, and the best of many scores."""

from collections.abc import Callable

import pytest
import torch

from fast.cases import Case, Problem
from models.zoo import EVERY, build, recurrent, sentences
from regard.fast.cpu import packed_weight
from regard.models import RecurrentConfig
from regard.registry import prepare_for_decoding
from regard.search.scoring import top

CONFIGS = {
    "bahdanau": EVERY["preset bahdanau"],
    "luong": EVERY["preset luong"],
    "two layers, lstm": recurrent(cell="lstm", encoder_layers=2, decoder_layers=2, readout="maxout"),
    "transformer": EVERY["preset transformer"],
}


def prepared(name: str) -> Callable[[torch.device, torch.dtype], Problem]:
    def problem(device: torch.device, dtype: torch.dtype) -> Problem:
        model = build(CONFIGS[name]).to(device, dtype)

        @torch.no_grad()
        def run() -> list[torch.Tensor]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(packed_weight, "SMALLEST", 1)
                ready, logits = prepare_for_decoding(model), []
                state = ready.start(sentences([5, 6, 7, 3], [8, 3], [3]))
                for word in (2, 5, 9):
                    step = ready.step(torch.full((3,), word), state)
                    state = step.state.select(torch.tensor([0, 2, 1]))
                    logits.append(step.logits)
            return logits

        return Problem(run)

    return problem


def best(rows: int, vocabulary: int, count: int) -> Callable[[torch.device, torch.dtype], Problem]:
    def problem(device: torch.device, dtype: torch.dtype) -> Problem:
        random = torch.Generator().manual_seed(0)
        scores = torch.randperm(rows * vocabulary, generator=random).view(rows, vocabulary).to(device, dtype)
        return Problem(lambda: top(scores, count))

    return problem


PACKS = packed_weight.packable(torch.ones(512, 512))
CASES = [
    *(
        Case(entry, name, prepared(name), dtypes=(torch.float32,))
        for entry in ("packed_model", "packed_product", "decoding_cells")
        for name, config in CONFIGS.items()
        if PACKS and (entry != "decoding_cells" or isinstance(config, RecurrentConfig))
    ),
    *(
        Case("top_by_blocks", f"{count} of {vocabulary}", best(3, vocabulary, count))
        for vocabulary, count in ((1000, 3), (4 * 64 * 5, 5), (643, 2), (64 * 9 + 63, 1))
    ),
]
