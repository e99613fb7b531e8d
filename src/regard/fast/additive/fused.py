"""Additive attention in Triton kernels, forward and backward, registered with autograd and torch.compile.

Nothing of size target × source × width is stored, forward or backward. The backward pass adds the queries' gradients in
no fixed order; with `deterministic` it takes one more pass and gives the same bits at every call.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from regard.attention.additive.functional import additive_attention, attend_additive
from regard.attention.additive.module import BahdanauAttention
from regard.attention.attend import check_query
from regard.attention.protocol import Attended, Memory
from regard.fast.additive import launch, launch_backward
from regard.fast.additive.launch import DTYPES, STEP_QUERIES, Inputs, kernels_run_on
from regard.fast.first_order import first_order_only
from regard.fast.precision import working_dtype
from regard.registry import Refusal, replaces
from regard.torch_private import recording_active

SMALL = 2**25
"""Up to this batch × target × source × width plain torch trains faster on a GPU: 64 × 32 × 32 × 512.

Measured in docs/log.md. Its temporary tensors then take 64 MiB each in half precision.
"""
REPLAYED = 2**22
"""The same limit while a CUDA graph is captured: a replay has no launch overhead."""
NO_KERNELS = "needs a GPU with Triton"


def _unfit(
    query_projected: Tensor,
    keys: Tensor,
    v: Tensor,
    values: Tensor,
    mask: Tensor,
    gaussian: Tensor | None = None,
    *,
    deterministic: bool | None = None,
) -> Refusal:
    tensors = query_projected, keys, v, values
    if not kernels_run_on(query_projected.device.type):
        return NO_KERNELS
    # Under autocast the operation casts its arguments as matrix products do.
    if len({(working_dtype(tensor), tensor.device) for tensor in tensors}) > 1:
        return "tensors of several dtypes or devices"
    if working_dtype(query_projected) not in DTYPES:
        return f"no kernels for {query_projected.dtype}"
    if not all(tensor.numel() for tensor in tensors):
        return "an empty tensor"
    if _launches_cost_more(*tensors):
        return "little work: the kernels' launch overhead exceeds plain torch's time for a training step"
    return None


def _launches_cost_more(*tensors: Tensor) -> bool:
    """Whether plain torch trains faster: launching the kernels takes the host longer than the work takes the GPU."""
    query, keys, *_ = tensors
    trains = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    if query.device.type != "cuda" or not trains or torch.compiler.is_compiling():
        return False
    return query.numel() * keys.shape[-2] <= (REPLAYED if torch.cuda.is_current_stream_capturing() else SMALL)


@replaces(attend_additive, unless=_unfit, compiles=True)
def attend_additive_fused(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*batch target source"],
    gaussian: Float[Tensor, "*batch target source"] | None = None,
    *,
    deterministic: bool | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights from the kernels; under autocast in its dtype."""
    query_projected, keys, v, values = (x.to(working_dtype(x)) for x in (query_projected, keys, v, values))
    lead, (target, source) = query_projected.shape[:-2], (query_projected.shape[-2], keys.shape[-2])
    mask = mask.reshape(-1, target, source)
    gaussian = None if gaussian is None else gaussian.reshape(-1, target, source)
    if deterministic is None:
        deterministic = torch.are_deterministic_algorithms_enabled()
    rows, keys, values = (x.reshape(-1, *x.shape[-2:]).contiguous() for x in (query_projected, keys, values))
    context, weights = _run(rows, keys, v.contiguous(), values, mask, gaussian, deterministic)
    return context.view(*lead, target, -1), weights.view(*lead, target, source)


def _module_unfit(
    attention: BahdanauAttention,
    query: Tensor,
    memory: Memory,
    position: int = 0,
    *,
    weights: Tensor | None = None,
    trace: bool = False,
) -> Refusal:
    if not kernels_run_on(query.device.type):
        return NO_KERNELS
    if working_dtype(query) not in DTYPES:
        return f"no kernels for {query.dtype}"
    if weights is not None or trace:
        return "weights are given or a trace is requested"
    if attention.training and attention.dropout:
        return "dropout acts on the weights"
    if query.shape[1] <= STEP_QUERIES and torch.is_grad_enabled():
        return f"a training step of at most {STEP_QUERIES} queries takes less host time in plain torch"
    return None


@replaces(BahdanauAttention.forward, unless=_module_unfit, compiles=True)
def bahdanau_fused(
    attention: BahdanauAttention,
    query: Float[Tensor, "batch target query"],
    memory: Memory,
    position: int = 0,
    *,
    weights: Float[Tensor, "batch head target source"] | None = None,
    trace: bool = False,
) -> Attended:
    """Scores, softmax and mixing in one operation instead of one after the other."""
    check_query("BahdanauAttention", query, memory, attention.query_width, (len(attention.v),))
    view = attention.window(query, memory.real, position)
    gaussian = None if view.gaussian is None else view.gaussian[:, 0]
    query_projected = functional.linear(query, attention.W_s)
    # Checks the shapes again: a window may be the user's, and kernels read past the end of a mask that is too small.
    context, seen = additive_attention(
        query_projected, memory.keys, attention.v, memory.values, view.mask[:, 0], gaussian
    )
    return Attended(context, seen[:, None])


def _run(*given: Any) -> tuple[Tensor, Tensor]:
    """Run the kernels: through torch.library, which takes more host time, only where torch records operations."""
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
    """Whether torch.compile, a trace, a dispatch mode or a tensor subclass must see one registered operation."""
    if torch.compiler.is_compiling() or recording_active():
        return True
    return any(type(x) is not Tensor and type(x) is not torch.nn.Parameter for x in tensors)


class _Eager(torch.autograd.Function):
    """The operation without torch.library; the backward pass reuses what the forward pass computed from the mask."""

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
            facts = launch.key_facts(inputs)
            context, weights, probabilities = launch.forward(inputs, facts=facts)
        unfaded = None if gaussian is None else probabilities
        ctx.save_for_backward(query, keys, v, values, mask, gaussian, weights, unfaded, facts.real, facts.wide)
        ctx.set_materialize_grads(False)
        ctx.deterministic = deterministic
        return context, weights

    @staticmethod
    @first_order_only
    def backward(ctx: Any, d_context: Tensor | None, d_weights: Tensor | None) -> tuple[Tensor | None, ...]:
        *given, weights, probabilities, real, wide = ctx.saved_tensors
        inputs, softmax = Inputs(*given), weights if probabilities is None else probabilities
        with torch.cuda.device_of(weights):  # type: ignore[no-untyped-call]
            *gradients, d_gaussian = launch_backward.backward(
                inputs, softmax, weights, d_context, d_weights, ctx.deterministic, facts=launch.KeyFacts(real, wide)
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
    saved = ctx.saved_tensors  # read once: torch.utils.checkpoint refuses a second read
    *gradients, d_gaussian = torch.ops.regard.additive_attention_backward(
        *saved, d_context, d_weights, ctx.deterministic
    )
    gaussian = saved[5]
    return (*gradients, None, None if gaussian is None else d_gaussian, None)


torch.library.register_autograd("regard::additive_attention", _differentiate, setup_context=_keep)
