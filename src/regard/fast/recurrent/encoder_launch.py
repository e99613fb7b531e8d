"""One GRU or LSTM layer over a padded batch on a GPU, both directions side by side, in two launches a step."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.fast.additive.launch import as_bytes, upwards

_UNITS = 128


def forward(
    given: Float[Tensor, "batch source direction gates"],
    real: Bool[Tensor, "batch source"],
    recurrent: Float[Tensor, "direction gates units"],
    bias: Float[Tensor, "direction gates"],
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Outputs `[batch, source, direction * units]`, last states, last cells; then states, products, gates and cells.

    `given` is the input product with its bias. Three gates for each unit are a GRU, four an LSTM.
    """
    from regard.fast.recurrent.encoder_kernels import read_kernel

    batch, source, directions, gates = given.shape
    units = recurrent.shape[2]
    lstm = gates == 4 * units
    states = given.new_zeros(source + 1, directions, batch, units)
    cells = torch.zeros(source + 1 if lstm else 0, directions, batch, units, dtype=torch.float32, device=given.device)
    product = given.new_empty(source, directions, batch, gates)
    kept = torch.empty_like(product)
    outputs = given.new_empty(batch, source, directions * units)
    turned, visible = recurrent.transpose(1, 2), as_bytes(real)
    for i in range(source):
        torch.bmm(states[i], turned, out=product[i])
        read_kernel[(batch, directions, upwards(units, _UNITS))](
            given, product[i], bias, visible, states[i:], cells[i:] if lstm else kept, kept[i], outputs, i, source,
            units, LSTM=lstm, UNITS=_UNITS, num_warps=1,
        )  # fmt: skip
    return (outputs, states[source].clone(), cells[-1:].clone()), (states, product, kept, cells)


def backward(
    outside: Sequence[Tensor], inputs: Sequence[Tensor | None], forward_kept: Sequence[Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of given, recurrent and bias."""
    from regard.fast.recurrent.encoder_kernels import read_backward_kernel

    d_outputs, d_hidden, d_cell = (gradient.contiguous() for gradient in outside)
    _, real, recurrent, bias = (x for x in inputs if x is not None)
    states, product, kept, cells = forward_kept
    source, directions, batch, gates = product.shape
    units, lstm = recurrent.shape[2], cells.numel() > 0
    count = gates // units
    past, carried = d_hidden.to(torch.float32, copy=True), d_hidden.new_zeros(directions * count, batch, units)
    d_cells = d_cell[0].to(torch.float32, copy=True) if lstm else past
    d_given = d_outputs.new_empty(batch, source, directions, gates)
    d_product, visible = product.new_empty(source, batch, directions * count, units), as_bytes(real)
    by_gate = recurrent.reshape(directions * count, units, units)
    for i in reversed(range(source)):
        read_backward_kernel[(batch, directions, upwards(units, _UNITS))](
            product[i], bias, visible, states[i], cells[i:] if lstm else kept, kept[i], carried, past, d_cells,
            d_outputs, d_given, d_product[i], i, source, units, LSTM=lstm, UNITS=_UNITS, num_warps=1,
        )  # fmt: skip
        # A product for each gate, added by the next step's kernel: the library would split one long product anyway.
        torch.bmm(d_product[i].transpose(0, 1), by_gate, out=carried)
    flat = d_product.view(source * batch, directions, gates)
    before = states[:-1].transpose(0, 1).reshape(directions, source * batch, units)
    d_bias = flat.sum(dim=0, dtype=torch.float32).to(bias.dtype)
    return d_given, torch.bmm(flat.permute(1, 2, 0), before), d_bias
