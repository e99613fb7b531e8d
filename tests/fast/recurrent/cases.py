"""Problems for the accelerated recurrent encoder and decoder: odd lengths, blank sentences, NaN at padding, dropout."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from fast.cases import Case, Problem
from models.zoo import BOS, VOCABULARY, build, recurrent
from regard.attention.masking import lengths_to_mask
from regard.fast.recurrent import weight_swap
from regard.models import RecurrentConfig
from regard.models.rnn.decoder import RecurrentDecoder, decode
from regard.models.rnn.encoder import Encoded, RecurrentEncoder, encode
from regard.models.rnn.state import RecurrentState
from regard.models.seq2seq import Seq2Seq
from regard.models.step import Step

LENGTHS = (7, 1, 4, 0)
FED = {"placement": "output", "input_feeding": True, "readout": "attentional"}
EXACT, SINGLE, HALF = torch.float64, torch.float32, torch.bfloat16
Build = Callable[[torch.device, torch.dtype], Problem]


def model_for(config: RecurrentConfig, device: torch.device, dtype: torch.dtype) -> Seq2Seq:
    """In training mode; half precision is autocast, as in training."""
    return build(config).to(device, SINGLE if dtype == HALF else dtype).train()


def numbers(*shape: int, seed: int, like: Tensor) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=EXACT).to(like)


def autocast(device: torch.device, dtype: torch.dtype) -> torch.autocast:
    return torch.autocast(device.type, dtype=HALF, enabled=dtype == HALF)


def encoding(lengths: tuple[int, ...] = LENGTHS, **choices: Any) -> Build:
    """`encode` of embeddings that are NaN after the end of a sentence; states at padding are not part of the result."""

    def problem(device: torch.device, dtype: torch.dtype) -> Problem:
        encoder = model_for(recurrent(**choices), device, dtype).encoder
        assert isinstance(encoder, RecurrentEncoder)
        weight, ends = encoder.embedding.weight, torch.tensor(lengths, device=device)
        embedded = numbers(len(lengths), max(lengths), weight.size(1), seed=1, like=weight)
        embedded[~lengths_to_mask(ends, max(lengths)) & (ends > 0)[:, None]] = float("nan")
        embedded.requires_grad_()

        def run() -> Encoded:
            with torch.random.fork_rng(), autocast(device, dtype):
                torch.manual_seed(2)
                encoded = encode(encoder, embedded, ends)
                return replace(encoded, states=torch.where(encoded.real[..., None], encoded.states, 0.0))

        return Problem(run, {"embedded": embedded, **dict(encoder.recurrence.named_parameters())})

    return problem


def start(decoder: RecurrentDecoder, config: RecurrentConfig, states: Tensor) -> RecurrentState:
    shape = config.encoder_layers, 2 if config.bidirectional else 1, len(LENGTHS), config.encoder_units
    hidden = numbers(*shape, seed=2, like=states.detach())
    cell = numbers(*shape, seed=3, like=hidden) if config.cell == "lstm" else None
    real = lengths_to_mask(torch.tensor(LENGTHS, device=states.device), states.size(1))
    return decoder.start(Encoded(states, real, hidden, cell))


def decoding(grad: bool = True, worth: int | None = None, target: int = 7, **choices: Any) -> Build:
    """`decode` after states that are NaN at padding; `worth` replaces the size from which deferring gradients pays."""
    config = recurrent(**choices)

    def problem(device: torch.device, dtype: torch.dtype) -> Problem:
        decoder = model_for(config, device, dtype).decoder
        assert isinstance(decoder, RecurrentDecoder)
        words = torch.randint(4, VOCABULARY, (len(LENGTHS), target), generator=torch.Generator().manual_seed(4))
        words[:, 0], words[1, 3:] = BOS, 0
        states = numbers(len(LENGTHS), max(LENGTHS), config.state_width, seed=1, like=decoder.embedding.weight)
        states[~lengths_to_mask(torch.tensor(LENGTHS, device=device), max(LENGTHS))] = float("nan")
        states.requires_grad_(grad)

        def run() -> Any:
            with pytest.MonkeyPatch.context() as patch, torch.random.fork_rng(), torch.set_grad_enabled(grad):
                if worth is not None:
                    patch.setattr(weight_swap, "DEFERRED", worth)
                torch.manual_seed(5)
                with autocast(device, dtype):
                    return decode(decoder, words.to(device), start(decoder, config, states))

        learned = {name: x for name, x in decoder.named_parameters() if not name.startswith("readout.output")}
        return Problem(run, {"states": states, **learned} if grad else {})

    return problem


def stepping(**choices: Any) -> Build:
    """Three steps of search, without gradients."""
    config = recurrent(**choices)

    def problem(device: torch.device, dtype: torch.dtype) -> Problem:
        decoder = model_for(config, device, dtype).eval().decoder
        assert isinstance(decoder, RecurrentDecoder)
        states = numbers(len(LENGTHS), max(LENGTHS), config.state_width, seed=1, like=decoder.embedding.weight)

        @torch.no_grad()
        def run() -> list[Step]:
            steps, state = list[Step](), start(decoder, config, states)
            for word in (BOS, 5, 9):
                steps.append(decoder.step(torch.full((len(LENGTHS),), word, device=device), state))
                state = steps[-1].state  # type: ignore[assignment]
            return steps

        return Problem(run)

    return problem


TWO = {"encoder_layers": 2, "decoder_layers": 2}
CASES = [
    *(
        Case("encode_kernels", f"{cell}, {name}", encoding(cell=cell, **choices), "kernels", (SINGLE, HALF))
        for cell in ("gru", "lstm")
        for name, choices in (("two layers both ways", TWO), ("one way", {"bidirectional": False}))
    ),
    Case("encode_padded", "a blank sentence", encoding((*10 * [6], 0), cell="lstm", **TWO), dtypes=(EXACT, SINGLE)),
    Case("encode_padded", "dropout", encoding((6, 6, 6, 5), cell="lstm", dropout=0.5, **TWO)),
    Case("encode_padded", "half full", encoding((6, 1, 5, 0), cell="lstm", bidirectional=False), dtypes=(HALF,)),
    *(
        Case("encode_packed", f"{cell}, {name}", encoding(cell=cell, **choices), dtypes=(EXACT, SINGLE, HALF))
        for cell in ("gru", "lstm")
        for name, choices in (("two layers, dropout", {"dropout": 0.5, **TWO}), ("one way", {"bidirectional": False}))
    ),
    *(
        Case("decode_kernels", cell, decoding(cell=cell, readout="maxout", target=3), "kernels", (SINGLE, HALF))
        for cell in ("gru", "lstm")
    ),
    *(
        Case("decode_one_operation", cell, decoding(cell=cell, readout="maxout"), dtypes=(EXACT, SINGLE, HALF))
        for cell in ("gru", "lstm")
    ),
    Case("decode_one_operation", "without gradients", decoding(grad=False), dtypes=(EXACT, SINGLE)),
    Case("decode_one_operation", "dropout", decoding(embedding_dropout=0.5)),
    *(
        Case(entry, f"{name}, {cell}", decoding(worth=worth, cell=cell, **choices), where, dtypes)
        for entry, where, worth in (("decode_deferred", "cpu", 0), ("decode_captured", "cuda", None))
        for cell in ("gru", "lstm")
        for name, dtypes, choices in (
            ("general, fed", (EXACT, SINGLE, HALF), {"score": "general", **FED}),
            ("multi-head, two layers", (EXACT, SINGLE, HALF), {"score": "multi-head", **TWO}),
            ("local-p", (EXACT,), {"window": "local-p", "readout": "maxout"}),  # its Gaussian amplifies rounding
        )
    ),
    Case("decode_deferred", "dropout", decoding(worth=0, score="general", dropout=0.5, embedding_dropout=0.3, **TWO)),
    Case("word_table", "one operation", decoding(), dtypes=(EXACT, SINGLE)),
    Case("word_table", "loop", decoding(worth=0, score="general", **FED), dtypes=(EXACT, SINGLE)),
    *(
        Case("decoding_cells", f"{name}, {cell}", stepping(cell=cell, **choices), dtypes=(EXACT, SINGLE))
        for cell in ("gru", "lstm")
        for name, choices in (("additive", {}), ("general, fed, two layers", {"score": "general", **FED, **TWO}))
    ),
]  # fmt: skip
