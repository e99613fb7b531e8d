"""Output layer and cross-entropy in one: the logits of a piece of the batch at a time, and never in float32.

Logits are the largest tensor of a model, and plain torch holds four of them: the logits, their float32 copy, its
softmax, and its gradient. Here a piece's logits turn into their own gradient in place, and both products of the
backward pass follow at once, while they are at hand.
"""

from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.models.rnn.fused.precision import once, plain_wanted, working_dtype

PIECE = 256 * 2**20
"""Bytes of logits at a time."""
CACHED = 2**21
"""Bytes of logits that a CPU turns into gradients at a time: a second pass over them should find them in its cache."""

_TRITON = find_spec("triton") is not None


def linear_cross_entropy(
    features: Float[Tensor, "rows width"],
    weight: Float[Tensor, "vocabulary width"],
    bias: Float[Tensor, " vocabulary"],
    wanted: Int[Tensor, " rows"],
    smoothing: float = 0.0,
    scale: float = 1.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Two sums over the rows: the loss with label smoothing, times `scale`, and -log p(wanted), to look at.

    Only the first has a gradient, and backward runs through it once: the gradients are made in advance and given away.
    Autocast counts: with it the products run in its precision.
    """
    if plain_wanted():
        return _by_torch(features, weight, bias, wanted, smoothing, scale)
    dtype = working_dtype(features)
    loss, plain = _LinearCrossEntropy.apply(features, weight, bias, wanted, smoothing, scale, dtype)  # type: ignore[no-untyped-call]
    return loss, plain


def _by_torch(
    features: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float, scale: float
) -> tuple[Tensor, Tensor]:
    """The same from torch's own operations, all logits at once."""
    logits = F.linear(features, weight, bias)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = F.cross_entropy(logits, wanted, label_smoothing=smoothing, reduction="sum")
    return scale * loss, F.cross_entropy(logits.detach(), wanted, reduction="sum")


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
            width, vocabulary, factor = features.size(1), len(weight), scale if learns else None
            wide = torch.promote_types(dtype, torch.float32)
            loss, plain = features.new_zeros(2, dtype=wide).unbind()
            d_features = torch.empty_like(features if learns else features[:0])
            d_weight, d_bias = None, None
            for start in range(0, max(len(features), 1), rows):
                piece = slice(start, start + rows)
                logits = _product(small[piece], small_weight, small_bias)
                likelihood, smooth, columns = _differentiate(logits, vocabulary, wanted[piece], smoothing, factor)
                plain += likelihood
                loss += scale * ((1 - smoothing) * likelihood + smoothing * smooth)
                if learns:
                    d_features[piece] = (logits @ small_weight)[:, :width]
                    steep = logits.t() @ small[piece]
                    d_weight = _more(d_weight, _cast(steep, torch.empty_like(weight)))
                    if columns is None:
                        columns = logits.sum(dim=0, dtype=bias.dtype) if small_bias is not None else steep[:, width]
                    d_bias = _more(d_bias, columns[:vocabulary].to(bias.dtype))
        if learns:
            ctx.save_for_backward(d_features, d_weight, d_bias)
        ctx.spent = False
        ctx.mark_non_differentiable(plain)
        return loss, plain

    @staticmethod
    @once
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.spent:
            raise RuntimeError(
                "linear_cross_entropy has given its gradients away: compute the loss again instead of running backward "
                "through it twice"
            )
        ctx.spent = True
        with torch.cuda.device_of(d_loss):  # type: ignore[no-untyped-call]
            d_features, d_weight, d_bias = (_multiply(gradient, d_loss) for gradient in ctx.saved_tensors)
        return d_features, d_weight, d_bias, None, None, None, None


def _cast(x: Tensor, y: Tensor) -> Tensor:
    """Fill the part of y that x reaches, in y's precision."""
    rows, columns = min(len(x), len(y)), min(x.size(1), y.size(1))
    if _TRITON and x.device.type == "cuda":
        from regard.train.cross_entropy_kernel import cast_kernel

        cast_kernel[(rows, -(-columns // 1024))](x, y, columns, x.stride(0), y.stride(0), BLOCK=1024)
    else:
        y[:rows, :columns] = x[:rows, :columns]
    return y


def _more(total: Tensor | None, more: Tensor) -> Tensor:
    """A sum that begins with its first term: zeros of this size would cost as much as adding to them."""
    return more if total is None else total.add_(more)


def _multiply(gradient: Tensor, factor: Tensor) -> Tensor:
    """In place; a factor of one, the usual, costs nothing (on a GPU: the launch of a kernel that looks at it)."""
    if _TRITON and gradient.device.type == "cuda":
        from regard.train.cross_entropy_kernel import multiply_kernel

        multiply_kernel[(-(-gradient.numel() // 4096),)](gradient, factor, gradient.numel(), BLOCK=4096, num_warps=8)
        return gradient
    return gradient if float(factor) == 1.0 else gradient.mul_(factor)


def _padded(device: torch.device, dtype: torch.dtype) -> bool:
    return device.type == "cuda" and dtype.itemsize <= 2


def _product(features: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return features @ weight.t() if bias is None else torch.addmm(bias, features, weight.t())


def _aligned(
    features: Tensor, weight: Tensor, bias: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor | None]:
    """All three in this precision; on a GPU both widths padded with zeros to multiples of 8.

    Half-precision products whose rows do not begin at 16 bytes run three times slower (docs/log.md). The first column
    of the padding holds the bias, beside a feature that is always one: its gradient then comes with the weights'
    instead of from another look at all logits.
    """
    if not _padded(features.device, dtype):
        return features.to(dtype), weight.to(dtype), bias.to(dtype)
    (rows, width), (vocabulary, _) = features.shape, weight.shape
    columns = width + 1 + -(width + 1) % 8
    small = features.new_empty(rows, columns, dtype=dtype)
    small[:, :width], small[:, width:], small[:, width] = features, 0, 1
    small_weight = weight.new_empty(vocabulary + -vocabulary % 8, columns, dtype=dtype)
    _cast(weight, small_weight)
    small_weight[:, width:], small_weight[vocabulary:] = 0, 0
    small_weight[:vocabulary, width] = bias
    return small, small_weight, None


def _differentiate(
    logits: Tensor, vocabulary: int, wanted: Tensor, smoothing: float, scale: float | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """-log p(wanted) and the mean -log p, both summed over the rows; with a scale the logits become their gradient.

    Third, on the CPU, that gradient summed over the rows, which is the bias's, while it is at hand. Columns beyond the
    vocabulary are padding: they meet zeros in one product and are dropped from the other.
    """
    wide = torch.promote_types(logits.dtype, torch.float32)
    if _TRITON and logits.device.type == "cuda":
        likelihood, smooth = _in_one_kernel(logits, vocabulary, wanted, smoothing, scale)
        return likelihood, smooth, None
    logits = logits[:, :vocabulary]
    sums, columns = logits.new_zeros(2, dtype=wide), logits.new_zeros(vocabulary, dtype=wide)
    rows = max(1, CACHED // (wide.itemsize * max(1, logits.size(1))))
    for piece, targets in zip(torch.split(logits, rows), torch.split(wanted, rows), strict=True):
        found, chances = _differentiate_piece(piece, targets, smoothing, scale, wide)
        sums += found
        if scale is not None:
            columns += chances.sum(dim=0)
    likelihood, smooth = sums.unbind()
    return likelihood, smooth, columns


def _differentiate_piece(
    logits: Tensor, wanted: Tensor, smoothing: float, scale: float | None, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The two sums and the gradient of rows that stay in the processor's cache while it works on them."""
    wide, places = logits.to(dtype), wanted[:, None]
    chances = torch.softmax(wide, dim=-1)
    # The largest chance is no less than one in the vocabulary: its logarithm is safe.
    normaliser = wide.amax(dim=-1) - chances.amax(dim=-1).log_()
    likelihood = (normaliser - wide.gather(1, places)[:, 0]).sum()
    smooth = (normaliser - wide.mean(dim=-1)).sum() if smoothing else likelihood
    if scale is not None:
        if smoothing:
            chances.sub_(smoothing / logits.size(1))
        chances.scatter_add_(1, places, chances.new_full((len(chances), 1), smoothing - 1))
        if scale != 1.0:
            chances.mul_(scale)
        logits.copy_(chances)
    return torch.stack([likelihood, smooth]), chances


def _in_one_kernel(
    logits: Tensor, vocabulary: int, wanted: Tensor, smoothing: float, scale: float | None
) -> tuple[Tensor, Tensor]:
    from regard.train.cross_entropy_kernel import cross_entropy_kernel

    rows, columns = logits.shape
    likelihoods, smooth = torch.empty(2, rows, dtype=torch.float32, device=logits.device).unbind()
    if rows:
        cross_entropy_kernel[(rows,)](
            logits, wanted.contiguous(), likelihoods, smooth, vocabulary, columns, smoothing, scale or 0.0,
            WITH_GRADIENT=scale is not None, BLOCK=4096, num_warps=8,
        )  # fmt: skip
    return likelihoods.sum(), smooth.sum()
