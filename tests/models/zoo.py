"""The models of these tests: combinations of all settings, a few units, float64, fixed weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any

import torch
from torch import Tensor

from regard.attention.build import SCORES, WINDOWS
from regard.models import RecurrentConfig, Seq2Seq, TransformerConfig, preset

Config = RecurrentConfig | TransformerConfig

PAD, UNK, BOS, EOS = range(4)
VOCABULARY = 11
INITIALS = ("zero", "last", "sum", "projection", "backward")
OWN = "models.own:Sharper"
READOUTS = ("state-context-embedding", "state-context", "attentional", "maxout")


@dataclass(frozen=True)
class Sentences:
    source: Tensor
    source_lengths: Tensor


def sentences(*rows: Sequence[int], width: int | None = None, seed: int | None = None) -> Sentences:
    """Rows padded to `width`; with a seed the padding is filled with random words instead of PAD."""
    longest = max(map(len, rows)) if width is None else width
    ids = torch.full((len(rows), longest), PAD)
    if seed is not None:
        ids = torch.randint(4, VOCABULARY, ids.shape, generator=torch.Generator().manual_seed(seed))
    for row, words in zip(ids, rows, strict=True):
        row[: len(words)] = torch.tensor(words, dtype=torch.long)
    return Sentences(ids, torch.tensor([len(words) for words in rows]))


SOURCE = ([5, 6, 7, 8, 3], [9, 4, 3], [10, 8, 6, 3])
TOKENS = torch.tensor([[BOS, 5, 9, 7], [BOS, 10, 4, 4], [BOS, 6, 6, 8]])


def build(config: Config, vocabulary: int = VOCABULARY) -> Seq2Seq:
    """A model in evaluation mode whose weights are large enough for every setting to affect the result."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Seq2Seq(config, vocabulary, vocabulary, trust=[OWN]).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.mul_(1.5)
            if name == "decoder.attention.b":  # which starts as zeros
                parameter.copy_(torch.linspace(-1, 1, len(parameter)))
    return model


shared = cache(build)
"""The same, built once: for tests that do not change its weights."""


def recurrent(**choices: Any) -> RecurrentConfig:
    """Sizes all different where the choices allow it, so that no transposed matrix goes unnoticed."""
    bidirectional, initial = choices.get("bidirectional", True), choices.get("initial", "projection")
    compares = choices.get("score") in ("dot", "scaled-dot")
    sizes: dict[str, Any] = {"embedding": 4, "encoder_units": 3, "decoder_units": 5, "attention_width": 8}
    if initial == "sum":
        sizes["decoder_units"] = 3
    elif compares or initial == "last":
        sizes["decoder_units"] = 6 if bidirectional else 3
    if choices.get("score") == "multi-head":
        sizes["heads"] = 2
    if choices.get("readout") in ("attentional", "maxout"):
        sizes["readout_width"] = 7
    return RecurrentConfig.model_validate({"reach": 1, **sizes, **choices})


def transformer(**choices: Any) -> TransformerConfig:
    sizes = {"width": 8, "heads": 2, "encoder_layers": 2, "decoder_layers": 2, "feedforward": 12, "dropout": 0.0}
    return TransformerConfig.model_validate({**sizes, **choices})


def _combinations() -> Iterator[dict[str, Any]]:
    """All combinations of score, window, placement, feeding and cell; other settings vary so that every pair occurs."""
    deal = Random(0)
    for score, window, placement, feeding, cell in product(
        SCORES, WINDOWS, ("input", "output"), (False, True), ("gru", "lstm")
    ):
        if score == "none" and window != "global":
            continue
        initial, layers = deal.choice(INITIALS), deal.choice((1, 2, 3))
        compares = score in ("dot", "scaled-dot")
        yield {
            "score": score,
            "window": window,
            "placement": placement,
            "input_feeding": feeding,
            "cell": cell,
            "initial": initial,
            "readout": "attentional" if feeding else deal.choice(READOUTS),
            # Dot products need states as wide as the decoder's; the sum of directions needs half of that.
            "bidirectional": initial == "backward" or (deal.random() < 0.5 and not (compares and initial == "sum")),
            "encoder_layers": layers,
            "decoder_layers": layers,
        }


COMBINATIONS = list(_combinations())


def _half() -> list[dict[str, Any]]:
    """The combinations whose cell follows from score, window, placement and feeding, so that any three choices meet,
    and those of the others that bring a pair of choices which is still missing.
    """
    axes = [("score", SCORES), ("window", WINDOWS), ("placement", ("input", "output")), ("cell", ("gru", "lstm"))]
    met: set[tuple[Any, ...]] = set()

    def odd(choices: dict[str, Any]) -> int:
        return (sum(list(values).index(choices[key]) for key, values in axes) + choices["input_feeding"]) % 2

    def brings(choices: dict[str, Any]) -> bool:
        pairs = set(combinations(choices.items(), 2))
        new = not odd(choices) or not pairs <= met
        met.update(pairs if new else ())
        return new

    return [choices for choices in sorted(COMBINATIONS, key=odd) if brings(choices)]


HALF = _half()


def _name(choices: dict[str, Any]) -> str:
    feeding = "fed" if choices["input_feeding"] else "unfed"
    directions = "both ways" if choices["bidirectional"] else "one way"
    kept = [choices[key] for key in ("score", "window", "placement", "cell", "initial", "readout")]
    return ", ".join([*kept, feeding, directions, str(choices["encoder_layers"])])


_SMALL = {"embedding": 4, "encoder_units": 5, "decoder_units": 5, "dropout": 0.0}
_TINY: dict[str, Config] = {
    "preset bahdanau": preset("bahdanau", "tiny", **_SMALL),
    "preset rnnsearch": preset("rnnsearch", **{**_SMALL, "attention_width": 7, "readout_width": 3}),
    "preset rnnsearch-2014": preset("rnnsearch-2014", **{**_SMALL, "attention_width": 7, "readout_width": 3}),
    "preset luong": preset("luong", "tiny", **_SMALL),
    "preset vanilla": preset("vanilla", "tiny", **_SMALL),
    "preset tutorial-lstm": preset("tutorial-lstm", **{**_SMALL, "attention_width": 3}),
    "preset transformer": preset("transformer", "tiny", width=8, heads=2, feedforward=6, dropout=0.0),
}
_TIED: dict[str, Config] = {
    "tied target": recurrent(readout="maxout", readout_width=4, tie="target"),
    "tied all": recurrent(readout="attentional", readout_width=4, tie="all", input_feeding=True, placement="output"),
    "transformer tied target": transformer(tie="target"),
    "transformer tied all": transformer(tie="all", positions="learned", longest=9, encoder_layers=1, decoder_layers=3),
}
_OTHERS: dict[str, Config] = {
    "transformer learned": transformer(positions="learned", longest=9),
    "layers differ": recurrent(encoder_layers=3, decoder_layers=2, cell="lstm"),
    "somebody's own": recurrent(score=OWN),
    "gru-2014, three layers": recurrent(cell="gru-2014", encoder_layers=3, decoder_layers=3, attention_bias=True),
    "gru-2014 at the output": recurrent(cell="gru-2014", score="general", placement="output", bidirectional=False),
    "gru-2014, fed": recurrent(cell="gru-2014", placement="output", input_feeding=True, readout="attentional"),
    "additive with a bias": recurrent(attention_bias=True, window="local-p"),
    "four heads": recurrent(score="multi-head", heads=4, window="local-p"),
}
RECURRENT: dict[str, RecurrentConfig] = {_name(choices): recurrent(**choices) for choices in HALF}
SECOND_HALF = {_name(choices): recurrent(**choices) for choices in COMBINATIONS if choices not in HALF}
"""For the long tests."""
EVERY: dict[str, Config] = {**_TINY, **_TIED, **_OTHERS, **RECURRENT}
PRESETS = {name: config for name, config in EVERY.items() if name.startswith("preset")}
MECHANISMS: dict[str, Config] = {
    **{name: config for name, config in EVERY.items() if name not in RECURRENT},
    **{
        name: config
        for name, config, choices in zip(RECURRENT, RECURRENT.values(), HALF, strict=True)
        if choices["input_feeding"] is (choices["placement"] == "output")
    },
}
"""One model for each score, window and placement, besides the presets: for laws that need no more."""
