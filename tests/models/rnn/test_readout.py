"""The four readouts against their equations."""

import pytest
import torch
from torch import Tensor

from regard.models.rnn.readout import Readout

from ..zoo import READOUTS, recurrent

GENERATOR = torch.Generator().manual_seed(0)
STATE, CONTEXT, WORD = (torch.randn(2, 3, width, dtype=torch.float64, generator=GENERATOR) for width in (5, 6, 4))


def readout(kind: str, **choices: object) -> Readout:
    torch.manual_seed(1)
    return Readout(recurrent(readout=kind, **choices), context_width=6, vocabulary=9).double()


def wanted(kind: str, made: Readout) -> Tensor:
    if kind == "state-context":
        return torch.cat([STATE, CONTEXT], dim=-1)
    if kind == "state-context-embedding":
        return torch.cat([STATE, CONTEXT, WORD], dim=-1)
    assert made.combine is not None
    if kind == "attentional":
        return torch.tanh(torch.cat([CONTEXT, STATE], dim=-1) @ made.combine.weight.T)
    t = torch.cat([STATE, CONTEXT, WORD], dim=-1) @ made.combine.weight.T + made.combine.bias
    return torch.maximum(t[..., 0::2], t[..., 1::2])


@pytest.mark.parametrize("kind", READOUTS)
def test_features_are_the_equation(kind: str) -> None:
    made = readout(kind)
    features = made.features(STATE, CONTEXT, WORD)
    torch.testing.assert_close(features, wanted(kind, made))
    assert features.size(-1) == made.width
    torch.testing.assert_close(made(features), features @ made.output.weight.T + made.output.bias)


@pytest.mark.parametrize("kind", ["attentional", "maxout"])
def test_the_hidden_layer_has_the_configured_width_or_the_decoders(kind: str) -> None:
    assert readout(kind).width == 7
    assert readout(kind, readout_width=None).width == 5


def test_luongs_layer_has_no_bias_and_does_not_read_the_word() -> None:
    made = readout("attentional")
    assert made.combine is not None
    assert made.combine.bias is None
    assert torch.equal(made.features(STATE, CONTEXT, WORD), made.features(STATE, CONTEXT, WORD + 1))
