"""Additive attention for any model: fused on a GPU, plain torch elsewhere, known to autograd and to torch.compile."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.additive import functional, launch, launch_backward
from regard.attention.additive.launch import Inputs
from regard.attention.once import once
from regard.attention.precision import working_dtype

SMALL = 2**25
"""Up to so many batch × target × source × width plain torch learns faster on a GPU: 64 × 32 × 32 × 512.

Measured in docs/results.md. Its temporary tensors then have 64 MiB each in half precision.
"""
REPLAYED = 2**22
"""The same where a CUDA graph is captured, which has no launches to pay for."""


def additive_attention(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*#batch #target source"],
    gaussian: Float[Tensor, "*#batch #target source"] | None = None,
    *,
    need_weights: bool = True,
    deterministic: bool | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"] | None]:
    """Context and weights of `e_ts = v · tanh(q_t + k_s)`, queries and keys already projected (Bahdanau 2014, A.1.2).

    On a GPU with Triton this is a fused kernel that holds nothing of size target × source × width, forwards or
    backwards; on the CPU, for float64, and to learn from a few words (`SMALL`), it is its twin in `functional.py`. The
    mask is True where a query may look: real positions, inside a window if there is one. A query that may look nowhere
    gets zeros, and on a GPU what stands at positions nobody may see, even NaN, reaches no result. `gaussian` multiplies
    the weights after the softmax (local-p). Without `need_weights` None comes back in their place.

    The fused backward adds the queries' gradients in no fixed order. `deterministic=True` takes one pass more and
    always gives the same bits; the default follows `torch.use_deterministic_algorithms`.
    """
    _check(query_projected, keys, v, values, mask, gaussian)
    # Under autocast the operation takes part as matrix products do.
    query_projected, keys, v, values = (x.to(working_dtype(x)) for x in (query_projected, keys, v, values))
    lead, (target, source) = query_projected.shape[:-2], (query_projected.shape[-2], keys.shape[-2])
    mask = mask.expand(*lead, target, source)
    if gaussian is not None:
        gaussian = gaussian.expand(*lead, target, source)
    fused = runs_fused(query_projected, keys, v, values)
    if fused and _launches_cost_more(query_projected, keys, v, values):
        real = mask.any(dim=-2)[..., None]
        keys, values = torch.where(real, keys, 0.0), torch.where(real, values, 0.0)
        fused = False
    if not fused:
        gaussian = None if gaussian is None else gaussian.to(values.dtype)
        context, weights = functional.additive_attention(query_projected, keys, v, values, mask, gaussian)
        return context, weights if need_weights else None
    if deterministic is None:
        deterministic = torch.are_deterministic_algorithms_enabled()
    rows, keys, values = (x.reshape(-1, *x.shape[-2:]).contiguous() for x in (query_projected, keys, values))
    mask = mask.reshape(-1, target, source)
    gaussian = None if gaussian is None else gaussian.reshape(-1, target, source)
    context, weights = _run(rows, keys, v.contiguous(), values, mask, gaussian, deterministic)
    return context.view(*lead, target, -1), weights.view(*lead, target, source) if need_weights else None


def _launches_cost_more(*tensors: Tensor) -> bool:
    """Whether plain torch learns faster: the kernels' launches take the host longer than a GPU needs for so little."""
    query, keys, *_ = tensors
    learns = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    if query.device.type != "cuda" or not learns or torch.compiler.is_compiling():
        return False
    return query.numel() * keys.shape[-2] <= (REPLAYED if torch.cuda.is_current_stream_capturing() else SMALL)


def _check(query: Any, keys: Any, v: Any, values: Any, mask: Any, gaussian: Any) -> None:
    """Refuse what the kernels, which see addresses and no shapes, would read past its end."""
    given = {"query_projected": query, "keys": keys, "v": v, "values": values, "mask": mask, "gaussian": gaussian}
    for name, one in given.items():
        if not isinstance(one, Tensor) and not (name == "gaussian" and one is None):
            raise TypeError(f"additive_attention: {name} is a {type(one).__name__}, but it must be a tensor")
    if mask.dtype != torch.bool:
        raise TypeError(f"additive_attention: mask is {mask.dtype}, but it must be torch.bool, True where one may look")
    wanted: dict[str, Any]
    if query.dim() < 2 or keys.dim() < 2 or values.dim() < 1:
        wanted = {"query_projected": "[..., target, width]", "keys": "[..., source, width]"}
    else:
        (*lead, target, width), source = query.shape, keys.shape[-2]
        wanted = {"keys": [*lead, source, width], "v": [width], "values": [*lead, source, *values.shape[-1:]]}
        wanted = {name: shape for name, shape in wanted.items() if list(given[name].shape) != shape}
        for name in ("mask", "gaussian"):
            if given[name] is not None and not _expands(given[name].shape, (*lead, target, source)):
                wanted[name] = [*lead, target, source]
    if wanted:
        said = "; ".join(f"{name} is {list(given[name].shape)} and must be {shape}" for name, shape in wanted.items())
        raise ValueError(f"additive_attention: for queries of shape {list(query.shape)}, {said}")


def _expands(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a mask of this shape is one for each query, or for several at once; its source is never left out."""
    fits = zip(shape[::-1], wanted[::-1], strict=False)
    return 0 < len(shape) <= len(wanted) and shape[-1] == wanted[-1] and all(n in (1, size) for n, size in fits)


def runs_fused(*tensors: Tensor) -> bool:
    """Whether the kernels, and not their plain twin, would run on query, keys, v and values."""
    return (
        launch.kernels_run_on(tensors[0].device.type)
        and len({(tensor.dtype, tensor.device) for tensor in tensors}) == 1
        and tensors[0].dtype in launch.DTYPES
        and all(tensor.numel() > 0 for tensor in tensors)
    )


def _run(*given: Any) -> tuple[Tensor, Tensor]:
    """By torch's library where torch compiles or traces; to call that takes the host longer than to launch kernels."""
    tensors, gaussian = given[:5], given[5]
    if _recorded(*tensors):
        context, weights, _ = torch.ops.regard.additive_attention(*given)
    elif torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in (*tensors, gaussian)):
        context, weights = _Eager.apply(*given)  # type: ignore[no-untyped-call]
    else:
        with torch.cuda.device_of(tensors[0]):  # type: ignore[no-untyped-call]
            context, weights, _ = launch.forward(Inputs(*given[:6]))
    return context, weights


def _recorded(*tensors: Tensor) -> bool:
    if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() or torch._C._get_tracing_state():
        return True
    return any(type(x) is not Tensor and type(x) is not torch.nn.Parameter for x in tensors)


class _Eager(torch.autograd.Function):
    """The same without torch's library: what both passes look at is looked at once."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        keys: Tensor,
        v: Tensor,
        values: Tensor,
        mask: Tensor,
        gaussian: Tensor | None,
        deterministic: bool,
    ) -> tuple[Tensor, Tensor]:
        inputs = Inputs(query, keys, v, values, mask, gaussian)
        # Triton launches on the current device, wherever the tensors are.
        with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]
            seen = launch.see(inputs)
            context, weights, probabilities = launch.forward(inputs, seen=seen)
        unfaded = None if gaussian is None else probabilities
        ctx.save_for_backward(query, keys, v, values, mask, gaussian, weights, unfaded, seen.real, seen.wide)
        ctx.set_materialize_grads(False)
        ctx.deterministic = deterministic
        return context, weights

    @staticmethod
    @once
    def backward(ctx: Any, d_context: Tensor | None, d_weights: Tensor | None) -> tuple[Tensor | None, ...]:
        *given, weights, probabilities, real, wide = ctx.saved_tensors
        inputs, softmax = Inputs(*given), weights if probabilities is None else probabilities
        with torch.cuda.device_of(weights):  # type: ignore[no-untyped-call]
            *gradients, d_gaussian = launch_backward.backward(
                inputs, softmax, weights, d_context, d_weights, ctx.deterministic, seen=launch.Seen(real, wide)
            )
        return (*gradients, None, d_gaussian, None)


@torch.library.custom_op(
    "regard::additive_attention",
    mutates_args=(),
    schema="(Tensor query, Tensor keys, Tensor v, Tensor values, Tensor mask, Tensor? gaussian, bool deterministic)"
    " -> (Tensor, Tensor, Tensor)",
)
def _attention(
    query: Tensor,
    keys: Tensor,
    v: Tensor,
    values: Tensor,
    mask: Tensor,
    gaussian: Tensor | None,
    deterministic: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    # Triton launches on the current device, wherever the tensors are.
    with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]
        context, weights, probabilities = launch.forward(Inputs(query, keys, v, values, mask, gaussian))
    # An operation's outputs may not share memory; without a Gaussian the weights are the probabilities.
    return context, weights, query.new_empty(0) if gaussian is None else probabilities


@_attention.register_fake
def _attention_shapes(
    query: Tensor,
    keys: Tensor,
    v: Tensor,
    values: Tensor,
    mask: Tensor,
    gaussian: Tensor | None,
    deterministic: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    batch, target, _ = query.shape
    weights = query.new_empty(batch, target, keys.shape[1])
    probabilities = query.new_empty(0) if gaussian is None else torch.empty_like(weights)
    return values.new_empty(batch, target, values.shape[2]), weights, probabilities


@torch.library.custom_op(
    "regard::additive_attention_backward",
    mutates_args=(),
    schema="(Tensor query, Tensor keys, Tensor v, Tensor values, Tensor mask, Tensor? gaussian, Tensor weights,"
    " Tensor probabilities, Tensor? d_context, Tensor? d_weights, bool deterministic)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def _backward(
    query: Tensor,
    keys: Tensor,
    v: Tensor,
    values: Tensor,
    mask: Tensor,
    gaussian: Tensor | None,
    weights: Tensor,
    probabilities: Tensor,
    d_context: Tensor | None,
    d_weights: Tensor | None,
    deterministic: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    inputs = Inputs(query, keys, v, values, mask, gaussian)
    softmax = weights if gaussian is None else probabilities
    with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]
        *most, d_gaussian = launch_backward.backward(inputs, softmax, weights, d_context, d_weights, deterministic)
    d_query, d_keys, d_v, d_values = most
    return d_query, d_keys, d_v, d_values, query.new_empty(0) if d_gaussian is None else d_gaussian


@_backward.register_fake
def _backward_shapes(
    query: Tensor,
    keys: Tensor,
    v: Tensor,
    values: Tensor,
    mask: Tensor,
    gaussian: Tensor | None,
    weights: Tensor,
    probabilities: Tensor,
    d_context: Tensor | None,
    d_weights: Tensor | None,
    deterministic: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    d_gaussian = query.new_empty(0) if gaussian is None else gaussian.new_empty(weights.shape)
    empty = torch.empty_like
    return empty(query), empty(keys), empty(v), empty(values), d_gaussian


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    *tensors, ctx.deterministic = inputs
    _, weights, probabilities = output
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(probabilities)
    ctx.save_for_backward(*tensors, weights, probabilities)


def _differentiate(ctx: Any, d_context: Tensor | None, d_weights: Tensor | None, _: None) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: a checkpoint hands each out once
    *gradients, d_gaussian = torch.ops.regard.additive_attention_backward(
        *saved, d_context, d_weights, ctx.deterministic
    )
    gaussian = saved[5]
    return (*gradients, None, None if gaussian is None else d_gaussian, None)


torch.library.register_autograd("regard::additive_attention", _differentiate, setup_context=_keep)
