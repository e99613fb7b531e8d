"""A function of a module captured in CUDA graphs: plain operations and autograd's own backward pass.

Bahdanau's decoder has its own kernels (`recurrent/bahdanau_launch.py`). The step loop of other decoders with torch's
cells and a mechanism that `conditions.py` lists is captured here, because launches take most of a step's time on a GPU.
A whole Transformer, hundreds of small operations, is replayed in the same way. Graphs belong to the modules that they
were captured with: a decoder whose attention is replaced gets new ones.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch import Tensor, nn

from regard.fast.first_order import first_order_only
from regard.fast.graphs.fingerprint import structure
from regard.fast.graphs.replay import Replay, ReplayTicket
from regard.fast.recurrent.weight_swap import Loop, run_with_weights

MOST = 4
"""Captured functions kept for each module: each precision, structure of its modules and training mode has its own."""

_captured: "WeakKeyDictionary[nn.Module, OrderedDict[object, _Captured]]" = WeakKeyDictionary()
_finding = Lock()


def run_captured(
    loop: Loop,
    module: nn.Module,
    weights: Mapping[str, Tensor],
    given: Sequence[Tensor | None],
    *,
    drops: bool = False,
) -> tuple[Tensor, ...]:
    """`loop(module, *given)` on these weights, differentiable with respect to both.

    `drops`: the function draws dropout itself, and uses each weight in one product: weight gradients are not deferred.
    """
    replay = captured_of(loop, module, tuple(weights), given, drops=drops).replay
    results: tuple[Tensor, ...] = _Run.apply(replay, *given, *weights.values())  # type: ignore[no-untyped-call]
    return results


def captured_of(
    loop: Loop, module: nn.Module, names: tuple[str, ...], given: Sequence[Tensor | None], *, drops: bool = False
) -> "_Captured":
    """The captured function for a module as it is now; graphs captured while it contained others are not reused."""
    first = next(x for x in given if x is not None)
    device = first.device.type
    autocast = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    key = (loop, structure(module), names, autocast, first.dtype, drops, *(_dropping(module) if drops else ()))
    with _finding:
        kept = _captured.setdefault(module, OrderedDict())
        found = kept.get(key)
        if found is None:
            found = kept[key] = _Captured(loop, module, names, len(given), autocast, drops=drops)
            if len(kept) > MOST:
                kept.popitem(last=False)
        kept.move_to_end(key)
    return found


def _dropping(module: nn.Module) -> tuple[float, ...]:
    """The dropout of each module now: a graph captured in training must not be replayed in evaluation."""
    shares = ((one, getattr(one, "p", getattr(one, "dropout", None))) for one in module.modules())
    return tuple(float(share) if one.training else 0.0 for one, share in shares if isinstance(share, float))


class _Captured:
    """A function of one module in one precision, as `Replay` expects it: a forward and a backward function."""

    def __init__(
        self,
        loop: Loop,
        module: nn.Module,
        names: tuple[str, ...],
        inputs: int,
        autocast: torch.dtype | None,
        *,
        drops: bool = False,
    ) -> None:
        # A strong reference would keep the module, the key of `_captured`, alive for ever.
        self.module, self.names, self.inputs, self.autocast = ref(module), names, inputs, autocast
        self.loop, self.drops = loop, drops
        self.replay = Replay(self.forward, self.backward, random=drops, shared=True)

    def forward(self, *given: Tensor | None) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The detached results; then, for backward, the results with their autograd graph, and its leaves."""
        module = self.module()
        assert module is not None
        # `data` has its own version counter: autograd must not notice that a replay overwrites these buffers.
        leaves = tuple(None if x is None else x.data.requires_grad_(x.is_floating_point()) for x in given)
        grown = tuple(x for x in leaves if x is not None and x.requires_grad)
        device = grown[0].device.type
        # Autocast's weight cache would outlive the graph in whose memory the copies are.
        with torch.enable_grad(), torch.autocast(device, self.autocast, self.autocast is not None, cache_enabled=False):
            weights = dict(zip(self.names, leaves[self.inputs :], strict=True))
            outputs = run_with_weights(self.loop, module, weights, leaves[: self.inputs], once=self.drops)
        return tuple(output.detach() for output in outputs), (*outputs, *grown)

    def backward(
        self, outside: Sequence[Tensor], given: Sequence[Tensor | None], kept: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """The gradients of all floating-point tensors in `given`, in their order."""
        outputs, grown = kept[: len(outside)], kept[len(outside) :]
        found = torch.autograd.grad(outputs, grown, outside, retain_graph=True, allow_unused=True)
        return tuple(
            torch.zeros_like(leaf) if gradient is None else gradient
            for leaf, gradient in zip(grown, found, strict=True)
        )


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, replay: Replay, *given: Tensor | None) -> tuple[Tensor, ...]:
        with torch.cuda.device_of(given[0]):  # type: ignore[no-untyped-call]
            results, kept, ticket = replay.forward(*given)
        ctx.replay, ctx.ticket, ctx.inputs = replay, ticket, len(given)
        ctx.save_for_backward(*given, *kept)
        return results

    @staticmethod
    @first_order_only
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        saved = ctx.saved_tensors  # read once: torch.utils.checkpoint returns each saved tensor once
        given, kept = saved[: ctx.inputs], saved[ctx.inputs :]
        replay: Replay = ctx.replay
        ticket: ReplayTicket = ctx.ticket
        with torch.cuda.device_of(given[0]):  # type: ignore[no-untyped-call]
            found = iter(replay.backward(ticket, outside, given, kept))
        return None, *(next(found) if x is not None and x.is_floating_point() else None for x in given)
