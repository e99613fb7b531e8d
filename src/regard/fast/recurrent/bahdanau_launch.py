"""All steps of the Bahdanau recurrence on a GPU: what `bahdanau_cpu.py` computes, in three launches a step.

Everything of size target × source × width stays inside a kernel; see `bahdanau_kernels.py` for the equations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.fast.additive.launch import Inputs, as_bytes, assembly, power, upwards
from regard.fast.additive.launch_backward import key_gradients, padded_source


@dataclass(frozen=True)
class Tiles:
    """Rows and columns of each kernel's tile, and its warps: the fastest found by benchmarks/decoder_tiles.py.

    Mixing and the queries' gradients are sums over keys: a tile that one warp holds needs no barrier.
    """

    score: tuple[int, int, int] = (4, 512, 4)
    mix: tuple[int, int, int] = (8, 32, 1)
    mix_back: tuple[int, int, int] = (4, 512, 2)
    query_back: tuple[int, int, int] = (16, 64, 1)
    cell_back: tuple[int, int] = (128, 1)
    unrolled: bool = True
    """Whether loops over keys are unrolled, so that all loads are issued at once."""


TILES = Tiles()
LONG = Tiles(mix=(16, 32, 1), query_back=(16, 128, 4), unrolled=False)
UNROLLED = 128
"""The longest source for which `TILES` are used; longer ones use `LONG`."""
PARTS = (4, 3, 2)
"""Numbers of parts that backward's product may be split into."""


def forward(
    gates: Float[Tensor, "target batch gates"],
    hidden: Float[Tensor, "batch units"],
    cell: Float[Tensor, "batch units"] | None,
    keys: Float[Tensor, "batch source width"],
    values: Float[Tensor, "batch source value"],
    real: Bool[Tensor, "batch source"],
    both: Float[Tensor, "product units"],
    bias: Float[Tensor, " gates"],
    v: Float[Tensor, " width"],
    W_c: Float[Tensor, "gates value"],
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """States, contexts, weights; then the tensors for backward: all states, weights, products, gates, M and cells.

    `both` is [W_s; U]. States begin with the target, contexts and weights with the batch; weights are float32.
    """
    from regard.fast.recurrent import bahdanau_kernels as kernel

    target, batch = gates.shape[:2]
    (source, width), units, lstm = keys.shape[1:], hidden.shape[1], cell is not None
    states = hidden.new_empty(target + 1, batch, units)
    states[0] = hidden
    cells = torch.empty(target + 1 if lstm else 0, batch, units, dtype=torch.float32, device=hidden.device)
    if cell is not None:
        cells[0] = cell
    product, kept = gates.new_empty(target, batch, both.shape[0]), torch.empty_like(gates)
    weights = torch.empty(batch, target, source, dtype=torch.float32, device=hidden.device)
    scores = torch.empty(batch, source, dtype=torch.float32, device=hidden.device)
    mixed, turned, visible = values @ W_c.t(), both.t(), as_bytes(real)
    block, size, tiles = power(source), both.shape[0], _tiles(source)
    for t in range(target):
        torch.mm(states[t], turned, out=product[t])
        kernel.score_kernel[(batch * upwards(source, tiles.score[0]),)](
            product[t], keys, v, visible, scores, source, width, size,
            KEYS=tiles.score[0], WIDTH=tiles.score[1], APPROXIMATE=_approximate(keys), num_warps=tiles.score[2],
        )  # fmt: skip
        kernel.mix_kernel[(batch * upwards(units, tiles.mix[1]),)](
            scores, mixed, gates[t], product[t], bias, states[t:], kept[t], cells[t:] if lstm else scores,
            weights[:, t], source, units, width, size, weights.stride(0),
            LSTM=lstm, BLOCK=block, KEYS=min(tiles.mix[0], block), UNITS=tiles.mix[1], UNROLLED=tiles.unrolled,
            num_warps=tiles.mix[2],
        )  # fmt: skip
    contexts = weights.to(values.dtype) @ values
    return (states[1:], contexts, weights), (states, weights, product, kept, mixed, cells)


def backward(
    outside: Sequence[Tensor], given: Sequence[Tensor | None], forward_kept: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """Gradients of gates, hidden, cell, keys, values, both, bias, v and W_c."""
    from regard.fast.recurrent import bahdanau_kernels as kernel

    d_states, d_contexts, d_weights = (gradient.contiguous() for gradient in outside)
    keys, values, real, both, bias, v, W_c = (x for x in given[3:] if x is not None)
    states, weights, product, kept, mixed, cells = forward_kept
    target, batch, units = d_states.shape
    (source, width), lstm = keys.shape[1:], cells.numel() > 0
    past = torch.zeros(batch, units, dtype=torch.float32, device=keys.device)
    parts = _parts(both.shape[0])
    d_cells, carried = torch.zeros_like(past), keys.new_zeros(parts, batch, units)
    d_given, d_product = torch.empty_like(kept), torch.empty_like(product)
    d_mixing = (d_contexts @ values.transpose(1, 2)).float() + d_weights
    d_scores = torch.zeros(batch, target, padded_source(source), dtype=torch.float32, device=keys.device)
    visible, block, size, tiles = as_bytes(real), power(source), both.shape[0], _tiles(source)
    for t in reversed(range(target)):
        kernel.cell_backward_kernel[(batch, upwards(units, tiles.cell_back[0]))](
            product[t], bias, states[t], kept[t], cells[t:] if lstm else carried, carried, past, d_cells, d_states[t],
            d_given[t], d_product[t], units, width, size,
            LSTM=lstm, PARTS=parts, UNITS=tiles.cell_back[0], num_warps=tiles.cell_back[1],
        )  # fmt: skip
        kernel.mix_backward_kernel[(batch * upwards(source, tiles.mix_back[0]),)](
            mixed, d_given[t], visible, d_mixing[:, t], source, kept.shape[2], d_mixing.stride(0),
            KEYS=tiles.mix_back[0], GATES=tiles.mix_back[1], num_warps=tiles.mix_back[2],
        )  # fmt: skip
        kernel.query_backward_kernel[(batch * upwards(width, tiles.query_back[1]),)](
            product[t], keys, v, weights[:, t], d_mixing[:, t], d_scores[:, t], d_product[t], source, width,
            size, weights.stride(0), d_scores.stride(0), BLOCK=block, KEYS=min(tiles.query_back[0], block),
            WIDTH=tiles.query_back[1], APPROXIMATE=_approximate(keys), UNROLLED=tiles.unrolled,
            num_warps=tiles.query_back[2],
        )  # fmt: skip
        torch.bmm(d_product[t].view(batch, parts, -1).transpose(0, 1), both.view(parts, -1, units), out=carried)
    flat = d_product.view(target * batch, -1)
    query = product[..., :width].transpose(0, 1).contiguous()
    everything = real[:, None].expand(batch, target, source)
    d_keys, d_v = key_gradients(Inputs(query, keys, v, values, everything, None), real, d_scores)
    turned = weights.to(keys.dtype).transpose(1, 2)
    d_mixed = turned @ d_given.transpose(0, 1)
    d_values = turned @ d_contexts + d_mixed @ W_c
    d_hidden = carried.sum(dim=0, dtype=torch.float32) + (0.0 if lstm else past)
    return (
        d_given,
        d_hidden.to(carried.dtype),
        d_cells,
        d_keys,
        d_values,
        flat.t() @ states[:-1].view(target * batch, units),
        flat[:, width:].sum(dim=0, dtype=torch.float32).to(bias.dtype),
        d_v,
        d_mixed.view(batch * source, -1).t() @ values.reshape(batch * source, -1),
    )


def _tiles(source: int) -> Tiles:
    return TILES if source <= UNROLLED else LONG


def _parts(size: int) -> int:
    """Into how many parts the product with [W_s; U]' is split, each with rows aligned to 16 bytes.

    Its inner dimension is long and its result small: as a batch of partial products it has enough tiles for all
    multiprocessors, and the next step's kernel adds the parts.
    """
    return next((parts for parts in PARTS if size % (8 * parts) == 0), 1)


def _approximate(tensor: Tensor) -> bool:
    """Whether tanh may be approximate; float32 keeps its exact tanh."""
    return assembly() and tensor.dtype != torch.float32
