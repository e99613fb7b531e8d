"""The GRU of 2014 and the readout over the previous state run their plain versions everywhere."""

import pytest
import torch

from candidates import candidates
from models.zoo import PRESETS, SOURCE, TOKENS, build, recurrent, sentences
from regard.models import RecurrentConfig
from regard.models.rnn.cells import advance_cells
from regard.models.rnn.decoder import decode
from regard.models.rnn.encoder import encode
from regard.registry import operation_of, recorded
from regard.search import beam_search

PREVIOUS = recurrent(readout="maxout", readout_state="previous")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (PRESETS["preset rnnsearch-2014"].model_copy(update={"readout_state": "new"}), "is not torch's own nn.GRU"),
        (PRESETS["preset rnnsearch-2014"], "the readout reads the previous state"),
        (PREVIOUS, "the readout reads the previous state"),
    ],
    ids=["gru-2014", "rnnsearch-2014", "previous"],
)
def test_no_accelerated_loop_applies(config: RecurrentConfig, reason: str) -> None:
    model, source = build(config), sentences(*SOURCE)
    with recorded() as chosen:
        model(source, TOKENS).features.sum().backward()
        beam_search(model, source, torch.full((3,), 4), beam=2)
    known = [choice.refusal or "" for choice in candidates(decode, model.decoder, TOKENS, model.start(source))]
    assert any(reason in refusal for refusal in known)
    functions = (decode, encode, advance_cells) if config.cell == "gru-2014" else (decode,)
    entries = {entry.name for function in functions for entry in operation_of(function).entries}
    assert len(entries) >= 4
    assert not entries & set(chosen)
