"""Any decoder's step loop from CUDA graphs: plain operations and autograd's own backward, captured as they are.

What `fused/decoder.py` does by hand for Bahdanau's decoder, this does for every other score, window and placement and
for input feeding: the launches, most of a step's time on a GPU, are replayed. The loop stays the one that the CPU runs.
A whole Transformer, which has no loop but hundreds of small operations, is replayed in the same way.
Graphs are kept for the modules that they were captured with: an attention that is exchanged gets its own.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch import Tensor, nn

from regard.attention.once import once
from regard.models.fixed import structure
from regard.models.rnn.fused.replay import Replay, Ticket
from regard.models.rnn.walk import walk

MOST = 4
"""Loops of a module that are kept: in other precisions, with other modules inside, in training or not."""

_loops: "WeakKeyDictionary[nn.Module, OrderedDict[object, _Loop]]" = WeakKeyDictionary()
_finding = Lock()


def walk_replayed(
    module: nn.Module, weights: Mapping[str, Tensor], given: Sequence[Tensor | None], *, drops: bool = False
) -> tuple[Tensor, ...]:
    """`module.walk(*given)` on these weights, differentiable with respect to both.

    `drops`: there is dropout in it, and every weight is multiplied with once.
    """
    replay = loop_of(module, tuple(weights), given, drops=drops).replay
    results: tuple[Tensor, ...] = _Walk.apply(replay, *given, *weights.values())  # type: ignore[no-untyped-call]
    return results


def loop_of(
    module: nn.Module, names: tuple[str, ...], given: Sequence[Tensor | None], *, drops: bool = False
) -> "_Loop":
    """The loop of a module as it is now; what was recorded with other modules inside is not that of these."""
    first = next(x for x in given if x is not None)
    device = first.device.type
    autocast = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    key = (structure(module), names, autocast, first.dtype, drops, *(_dropping(module) if drops else ()))
    with _finding:
        loops = _loops.setdefault(module, OrderedDict())
        found = loops.get(key)
        if found is None:
            found = loops[key] = _Loop(module, names, len(given), autocast, drops=drops)
            if len(loops) > MOST:
                loops.popitem(last=False)
        loops.move_to_end(key)
    return found


def _dropping(module: nn.Module) -> tuple[float, ...]:
    """How much each part drops now: what was captured while training must not run in an evaluation."""
    shares = ((one, getattr(one, "p", getattr(one, "dropout", None))) for one in module.modules())
    return tuple(float(share) if one.training else 0.0 for one, share in shares if isinstance(share, float))


class _Loop:
    """The loop of one module in one precision, as Replay wants it: a forward and a backward function."""

    def __init__(
        self,
        module: nn.Module,
        names: tuple[str, ...],
        inputs: int,
        autocast: torch.dtype | None,
        *,
        drops: bool = False,
    ) -> None:
        # A strong reference would keep the module alive for ever: it is the key under which this is found.
        self.module, self.names, self.inputs, self.autocast = ref(module), names, inputs, autocast
        self.drops = drops
        self.replay = Replay(self.forward, self.backward, random=drops, shared=True)

    def forward(self, *given: Tensor | None) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Results; then the same with their graph, and the leaves it grew from."""
        module = self.module()
        assert module is not None
        # `data` has a version of its own: that a replay fills these places again is no business of autograd's.
        leaves = tuple(None if x is None else x.data.requires_grad_(x.is_floating_point()) for x in given)
        grown = tuple(x for x in leaves if x is not None and x.requires_grad)
        device = grown[0].device.type
        # Autocast would keep the copies of weights that it makes beyond the graph in whose memory they live.
        with torch.enable_grad(), torch.autocast(device, self.autocast, self.autocast is not None, cache_enabled=False):
            weights = dict(zip(self.names, leaves[self.inputs :], strict=True))
            outputs = walk(module, weights, leaves[: self.inputs], once=self.drops)
        return tuple(output.detach() for output in outputs), (*outputs, *grown)

    def backward(
        self, outside: Sequence[Tensor], given: Sequence[Tensor | None], kept: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """Gradients of everything in `given` that is a real number, in its order."""
        outputs, grown = kept[: len(outside)], kept[len(outside) :]
        found = torch.autograd.grad(outputs, grown, outside, retain_graph=True, allow_unused=True)
        return tuple(
            torch.zeros_like(leaf) if gradient is None else gradient
            for leaf, gradient in zip(grown, found, strict=True)
        )


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, replay: Replay, *given: Tensor | None) -> tuple[Tensor, ...]:
        with torch.cuda.device_of(given[0]):  # type: ignore[no-untyped-call]
            results, kept, ticket = replay.forward(*given)
        ctx.replay, ctx.ticket, ctx.inputs = replay, ticket, len(given)
        ctx.save_for_backward(*given, *kept)
        return results

    @staticmethod
    @once
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        saved = ctx.saved_tensors  # once: a checkpoint hands each out once
        given, kept = saved[: ctx.inputs], saved[ctx.inputs :]
        replay: Replay = ctx.replay
        ticket: Ticket = ctx.ticket
        with torch.cuda.device_of(given[0]):  # type: ignore[no-untyped-call]
            found = iter(replay.backward(ticket, outside, given, kept))
        return None, *(next(found) if x is not None and x.is_floating_point() else None for x in given)
