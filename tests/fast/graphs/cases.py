"""Problems for captured graphs: a Transformer in training, and the release of all graphs."""

import torch

from fast.cases import Case, Problem
from models.zoo import SOURCE, TOKENS, Sentences, build, sentences
from regard.models import TransformerConfig
from regard.registry import release_memory


def transformer(device: torch.device, dtype: torch.dtype) -> Problem:
    torch.manual_seed(0)
    config = TransformerConfig(width=16, heads=2, encoder_layers=2, decoder_layers=2, feedforward=24, dropout=0.0)
    model, source = build(config).to(device, dtype).train(), sentences(*SOURCE, [])
    moved, tokens = (
        Sentences(source.source.to(device), source.source_lengths.to(device)),
        torch.cat([TOKENS, TOKENS[:1]]),
    )
    leaves = {name: x for name, x in model.named_parameters() if not name.startswith("decoder.readout")}
    return Problem(lambda: model(moved, tokens.to(device)), leaves)


CASES = [
    Case("replayed_transformer", "two layers", transformer, "cuda", (torch.float64, torch.float32)),
    Case("forget_graphs", "nothing captured", lambda *_: Problem(release_memory)),
]
