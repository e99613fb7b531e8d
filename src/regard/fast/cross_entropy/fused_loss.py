"""Output layer and cross-entropy in one pass: logits in pieces of the batch, never all of them in float32.

Logits are the largest tensor of a model, and plain torch holds four of them: the logits, their float32 copy, its
softmax, and its gradient. Here the logits of a piece are overwritten with their own gradient, and both products of the
backward pass follow while the piece is in the cache.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.fast.additive.launch import upwards
from regard.fast.first_order import first_order_only
from regard.fast.precision import fusible, working_dtype
from regard.models.cross_entropy import linear_cross_entropy
from regard.registry import Refusal, replaces

PIECE = 256 * 2**20
"""Bytes of logits at a time."""
CACHED = 2**21
"""Bytes of logits that a CPU differentiates at a time: they should stay in its cache for the second pass."""
MANY, MANY_ON_GPU = 2**22, 2**25
"""The number of logits (rows × vocabulary) above which it is faster than plain torch."""
MOST_PROGRAMS = 1024
"""The largest grid of `multiply_kernel`, which does nothing if the factor is one."""


def gains(features: Tensor, weight: Tensor) -> bool:
    """Whether it is faster than plain torch: for many logits, and on a GPU only in half precision."""
    logits = len(features) * len(weight)
    if features.is_cuda:
        return working_dtype(features).itemsize == 2 and logits >= MANY_ON_GPU
    return logits >= MANY


def _unfit(
    features: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float = 0.0, scale: float = 1.0
) -> Refusal:
    return None if gains(features, weight) else "gains only for many logits, and on a GPU only in half precision"


@replaces(linear_cross_entropy, unless=_unfit)
def fused_cross_entropy(
    features: Float[Tensor, "rows width"],
    weight: Float[Tensor, "vocabulary width"],
    bias: Float[Tensor, " vocabulary"],
    wanted: Int[Tensor, " rows"],
    smoothing: float = 0.0,
    scale: float = 1.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Both sums; the gradients are computed in the forward pass, so backward may run through them once.

    Under autocast the products run in its precision.
    """
    dtype = working_dtype(features)
    if not torch.is_grad_enabled():  # needs_input_grad of an autograd function ignores no_grad
        features, weight, bias = features.detach(), weight.detach(), bias.detach()
    loss, plain = _LinearCrossEntropy.apply(features, weight, bias, wanted, smoothing, scale, dtype)  # type: ignore[no-untyped-call]
    return loss, plain


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor,
        wanted: Tensor,
        smoothing: float,
        scale: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        learns = any(ctx.needs_input_grad[:3])
        with torch.cuda.device_of(features), torch.autocast(features.device.type, enabled=False):  # type: ignore[no-untyped-call]
            small, small_weight, small_bias = _aligned(features, weight, bias, dtype)
            rows = max(1, PIECE // (dtype.itemsize * len(weight)))
            width, vocabulary = features.size(1), len(weight)
            d_small = torch.empty_like(small if learns else small[:0])
            sums, d_weight, d_bias = None, None, None
            for start in range(0, max(len(features), 1), rows):
                piece = slice(start, start + rows)
                logits = _product(small[piece], small_weight, small_bias)
                found, columns = _differentiate(logits, vocabulary, wanted[piece], smoothing, scale, learns=learns)
                sums = _more(sums, found)
                if learns:
                    torch.mm(logits, small_weight, out=d_small[piece])
                    steep = logits.t() @ small[piece]
                    d_weight = _more(d_weight, _cast(steep, weight.new_empty(weight.shape)))
                    if columns is None:
                        columns = logits.sum(dim=0, dtype=bias.dtype) if small_bias is not None else steep[:, width]
                    d_bias = _more(d_bias, columns[:vocabulary].to(bias.dtype).contiguous())
            assert sums is not None
            loss, plain = sums.unbind()
            if learns:
                # In another precision than that of the products it is copied anyway, and then without its padding.
                alike = d_small.dtype == features.dtype
                ctx.save_for_backward(d_small if alike else d_small[:, :width].to(features.dtype), d_weight, d_bias)
        ctx.spent, ctx.width = False, width
        ctx.mark_non_differentiable(plain)
        return loss, plain

    @staticmethod
    @first_order_only
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.spent:
            raise RuntimeError(
                "linear_cross_entropy computes its gradients once: compute the loss again instead of running backward "
                "through it twice"
            )
        ctx.spent = True
        gradients = ctx.saved_tensors  # read once: saved-tensor hooks return new tensors at every access
        with torch.cuda.device_of(d_loss):  # type: ignore[no-untyped-call]
            _multiply(gradients, d_loss)
        d_features, d_weight, d_bias = gradients
        return d_features[:, : ctx.width], d_weight, d_bias, None, None, None, None


def _cast(x: Tensor, y: Tensor) -> Tensor:
    """Fill y from x, which may be larger, in y's precision."""
    rows, columns = y.shape
    if fusible(x):
        from regard.fast.cross_entropy.loss_kernels import cast_kernel

        cast_kernel[(rows, upwards(columns, 1024))](x, y, columns, x.stride(0), y.stride(0), BLOCK=1024)
    else:
        y.copy_(x[:rows, :columns])
    return y


def _more(total: Tensor | None, more: Tensor) -> Tensor:
    """A sum that starts with its first term: filling zeros of this size would cost as much as an addition."""
    return more if total is None else total.add_(more)


def _multiply(gradients: Sequence[Tensor], factor: Tensor) -> None:
    """Multiply in place; a factor of one costs nothing on a CPU, and one kernel launch on a GPU."""
    if fusible(factor):
        from regard.fast.cross_entropy.loss_kernels import multiply_kernel

        counts = [gradient.numel() for gradient in gradients]
        programs = min(MOST_PROGRAMS, upwards(max(counts), 4096))
        multiply_kernel[(programs,)](*gradients, factor, *counts, BLOCK=4096, num_warps=8)
    elif float(factor) != 1.0:
        for gradient in gradients:
            gradient.mul_(factor)


def _padded(tensor: Tensor, dtype: torch.dtype) -> bool:
    """Whether both widths are padded to multiples of 8: half-precision products on a GPU gain, Triton or not."""
    return dtype.itemsize <= 2 and (tensor.device.type == "cuda" or fusible(tensor))


def _product(features: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return features @ weight.t() if bias is None else torch.addmm(bias, features, weight.t())


def _aligned(
    features: Tensor, weight: Tensor, bias: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor | None]:
    """All three in this precision; on a GPU both widths padded with zeros to multiples of 8.

    Half-precision products whose rows do not begin at 16 bytes run three times slower (docs/log.md). The first column
    of the padding holds the bias, beside a feature that is always one: its gradient is then part of the weights'
    gradient and needs no other pass over the logits.
    """
    if not _padded(features, dtype):
        return features.to(dtype), weight.to(dtype), bias.to(dtype)
    (rows, width), (vocabulary, _) = features.shape, weight.shape
    columns = width + 1 + -(width + 1) % 8
    small = features.new_empty(rows, columns, dtype=dtype)
    small_weight = weight.new_empty(vocabulary + -vocabulary % 8, columns, dtype=dtype)
    return _pad(features, None, small), _pad(weight, bias, small_weight), None


def _pad(x: Tensor, last: Tensor | None, y: Tensor) -> Tensor:
    """Fill y with x, then one column with `last` or ones, then zeros."""
    (rows, columns), x = x.shape, x.contiguous()
    if fusible(y):
        from regard.fast.cross_entropy.loss_kernels import pad_kernel

        if len(y):
            width, more = y.size(1), x if last is None else last.contiguous()
            pad_kernel[(len(y), upwards(width, 1024))](
                x, more, y, rows, columns, x.stride(0), y.stride(0), ONES=last is None, BLOCK=1024
            )
    else:
        y.zero_()
        y[:rows, :columns], y[:rows, columns] = x, 1 if last is None else last
    return y


def _differentiate(
    logits: Tensor, vocabulary: int, wanted: Tensor, smoothing: float, scale: float, *, learns: bool
) -> tuple[Float[Tensor, " 2"], Tensor | None]:
    """Objective and -log p(wanted), both summed over the rows; with `learns` the logits become their gradient.

    The second result, on the CPU, is that gradient summed over the rows: the bias's gradient. Columns beyond the
    vocabulary are padding: the features' gradient multiplies them by zeros, and the weights' gradient drops them.
    """
    if fusible(logits):
        return _in_one_kernel(logits, vocabulary, wanted, smoothing, scale, learns=learns), None
    wide = torch.promote_types(logits.dtype, torch.float32)
    logits = logits[:, :vocabulary]
    sums, columns = logits.new_zeros(2, dtype=wide), logits.new_zeros(vocabulary, dtype=wide)
    rows = max(1, CACHED // (wide.itemsize * max(1, logits.size(1))))
    for piece, targets in zip(torch.split(logits, rows), torch.split(wanted, rows), strict=True):
        found, chances = _differentiate_piece(piece, targets, smoothing, scale, wide, learns=learns)
        sums += found
        if learns:
            columns += chances.sum(dim=0)
    return sums, columns


def _differentiate_piece(
    logits: Tensor, wanted: Tensor, smoothing: float, scale: float, dtype: torch.dtype, *, learns: bool
) -> tuple[Tensor, Tensor]:
    """The two sums and the gradient of rows that fit into the processor's cache."""
    wide, places = logits.to(dtype), wanted[:, None]
    chances = torch.softmax(wide, dim=-1)
    # The largest probability is at least 1 / vocabulary: its logarithm is finite.
    normaliser = wide.amax(dim=-1) - chances.amax(dim=-1).log_()
    likelihood = (normaliser - wide.gather(1, places)[:, 0]).sum()
    smooth = (normaliser - wide.mean(dim=-1)).sum() if smoothing else likelihood
    if learns:
        if smoothing:
            chances.sub_(smoothing / logits.size(1))
        chances.scatter_add_(1, places, chances.new_full((len(chances), 1), smoothing - 1))
        if scale != 1.0:
            chances.mul_(scale)
        logits.copy_(chances)
    return torch.stack([scale * ((1 - smoothing) * likelihood + smoothing * smooth), likelihood]), chances


def _in_one_kernel(
    logits: Tensor, vocabulary: int, wanted: Tensor, smoothing: float, scale: float, *, learns: bool
) -> Tensor:
    from regard.fast.cross_entropy.loss_kernels import cross_entropy_kernel

    rows, columns = logits.shape
    found = torch.empty(2, rows, dtype=torch.float32, device=logits.device)
    if rows:
        cross_entropy_kernel[(rows,)](
            logits, wanted.contiguous(), *found, vocabulary, columns, smoothing, scale,
            WITH_GRADIENT=learns, BLOCK=4096, num_warps=8,
        )  # fmt: skip
    return found.sum(dim=1)
