"""The decoder's first state, five ways, against the equations."""

import pytest
import torch

from regard.models.rnn.bridge import Bridge

from ..zoo import recurrent

FINAL = torch.randn(2, 2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
SIZES = {"encoder_units": 4, "encoder_layers": 2, "decoder_layers": 2}


def bridge(initial: str, units: int, cell: str = "gru") -> Bridge:
    torch.manual_seed(1)
    return Bridge(recurrent(initial=initial, decoder_units=units, cell=cell, **SIZES)).double()


def test_zero() -> None:
    hidden, cell = bridge("zero", 5)(FINAL, None)
    assert torch.equal(hidden, torch.zeros(2, 3, 5, dtype=torch.float64))
    assert cell is None


def test_last_is_both_directions_side_by_side() -> None:
    hidden, _ = bridge("last", 8)(FINAL, None)
    assert torch.equal(hidden, torch.cat([FINAL[:, 0], FINAL[:, 1]], dim=-1))


def test_sum_adds_the_directions() -> None:
    hidden, _ = bridge("sum", 4)(FINAL, None)
    torch.testing.assert_close(hidden, FINAL[:, 0] + FINAL[:, 1])


@pytest.mark.parametrize(
    ("initial", "top"), [("projection", FINAL[1].transpose(0, 1).flatten(1)), ("backward", FINAL[1, 1])]
)
def test_projections_read_the_top_layer_and_make_every_decoder_layer(initial: str, top: torch.Tensor) -> None:
    made = bridge(initial, 5)
    assert made.hidden is not None
    hidden, _ = made(FINAL, None)
    wanted = torch.tanh(top @ made.hidden.weight.T + made.hidden.bias)
    torch.testing.assert_close(hidden, torch.stack([wanted[:, :5], wanted[:, 5:]]))


@pytest.mark.parametrize(
    ("initial", "units"), [("zero", 5), ("last", 8), ("sum", 4), ("projection", 5), ("backward", 5)]
)
def test_an_lstm_s_cell_is_made_the_same_way_with_its_own_weights(initial: str, units: int) -> None:
    made = bridge(initial, units, "lstm")
    hidden, cell = made(FINAL, 2 * FINAL)
    assert cell is not None
    if made.hidden is None:
        torch.testing.assert_close(cell, 2 * hidden)
    else:
        assert made.cell is not None
        made.cell.load_state_dict(made.hidden.state_dict())
        torch.testing.assert_close(made(FINAL, FINAL)[1], hidden)
        assert not torch.allclose(cell, hidden)
