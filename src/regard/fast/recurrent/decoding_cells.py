"""One step of stacked cells without gradients: few operations, and packed weights where the model was prepared."""

import torch
from torch import Tensor, nn

from regard.fast.conditions import unlike_torch
from regard.fast.cpu.packed_recurrence import layers_of
from regard.fast.cpu.packed_weight import Packed, product
from regard.fast.precision import linear
from regard.fast.recurrent.cell_equations import gru_forward, lstm_forward
from regard.models.rnn.cells import advance_cells
from regard.registry import Refusal, replaces

States = tuple[Tensor, ...]


def _unfit(
    recurrence: nn.Module, inputs: Tensor, hidden: States, cell: States | None, mask: Tensor | None = None
) -> Refusal:
    return "gradients are computed" if torch.is_grad_enabled() else unlike_torch(recurrence)


@replaces(advance_cells, unless=_unfit)
def decoding_cells(
    recurrence: nn.Module, inputs: Tensor, hidden: States, cell: States | None, mask: Tensor | None = None
) -> tuple[States, States | None]:
    """The plain version's equations in half as many operations."""
    assert isinstance(recurrence, nn.RNNBase)
    new_hidden: list[Tensor] = []
    new_cell: list[Tensor] = []
    for index, (W, U, b, b_u) in enumerate(layers_of(recurrence, inputs)):
        if index:
            inputs = new_hidden[-1] if mask is None else new_hidden[-1] * mask[index - 1]
        x, u = _product(inputs, W, b), _product(hidden[index], U, b_u)
        if cell is None:
            new_hidden.append(gru_forward(x, u, hidden[index])[-1])
        else:
            _, c, _, s = lstm_forward(u.add_(x), cell[index])
            new_hidden.append(s)
            new_cell.append(c)
    return tuple(new_hidden), None if cell is None else tuple(new_cell)


def _product(x: Tensor, weight: Packed, bias: Tensor) -> Tensor:
    if isinstance(weight, Tensor) and not weight.is_mkldnn:
        return linear(x, weight, bias)
    return product(x, weight, bias)
