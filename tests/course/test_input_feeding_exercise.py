"""Exercise 12: what the grader holds learners to is what the package's own decoder computes."""

import torch

from regard.course.exercises.e12_input_feeding.check import decode
from regard.models import preset
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.rnn.encoder import Encoded


def test_the_reference_is_the_packages_decoder() -> None:
    torch.manual_seed(0)
    sizes = {"embedding": 4, "encoder_units": 3, "decoder_units": 3}
    config = preset("luong", "tiny", score="dot", cell="gru", **sizes)
    decoder = RecurrentDecoder(config, torch.nn.Embedding(9, 4), vocabulary=9).eval()
    assert decoder.readout.combine is not None
    cell = torch.nn.GRUCell(4 + 3, 3)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in decoder.recurrence.state_dict().items()})
    states, tokens = torch.randn(1, 5, 3), torch.tensor([[2, 5, 6, 7]])
    encoded = Encoded(states, torch.ones(1, 5, dtype=torch.bool), torch.zeros(1, 1, 1, 3), None)
    with torch.no_grad():
        theirs = decoder(tokens, decoder.start(encoded)).features[0]
        ours = decode(cell, decoder.readout.combine.weight, [(decoder.embedding(tokens[0]), states[0])])[0]
    torch.testing.assert_close(ours, theirs)
