"""Matrices that every step of a loop multiplies with, whose gradient is ONE product after the last step.

Autograd computes a full-size gradient of a weight at each step and adds it to the others. A `DeferredGradient` enters
the graph through one node; the backward pass of a step only records its rows x and δy. Autograd reaches that node after
all steps, and there dW = Σ x' δy is a single product over all rows.

    W = deferred(weight)          replaces the weight: x @ W, linear(x, W), addmm(y, x, W), and these on views of it;
    for …: y = linear(x, W)       every other operation is differentiated by autograd as usual

Batched matrices (the values that attention mixes, the keys that it compares) are deferred in the same way.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from regard.fast.first_order import first_order_only
from regard.fast.precision import working_dtype
from regard.torch_private import backward_pass_id, without_torch_function

_MATMUL: frozenset[Callable[..., Tensor]] = frozenset({torch.matmul, Tensor.matmul, Tensor.__matmul__})
_SPLIT: Callable[..., tuple[Tensor, ...]] = Tensor.split
_VIEWS: frozenset[Callable[..., Tensor]] = frozenset(
    {Tensor.__getitem__, Tensor.t, Tensor.transpose, Tensor.unsqueeze, Tensor.mT.__get__}  # type: ignore[attr-defined]
)


class DeferredGradient(Tensor):
    """A tensor that records its products for the backward pass; created by `deferred`."""

    known: dict[object, Any]
    """Its views, deferred in turn, and the records of its products: each is created once."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with without_torch_function():
            if torch.is_grad_enabled():
                found = _recorded(func, args, kwargs or {})
                if found is not None:
                    return found
            return func(*args, **(kwargs or {}))


def deferred(matrix: Tensor) -> Tensor:
    """The same numbers, with a deferred gradient."""
    made = matrix.as_subclass(DeferredGradient)
    made.known = {}
    return made


def _recorded(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The product or the view, where `func` is one that can be deferred with these arguments; else None."""
    if func is functional.linear and len(args) > 1 and type(args[1]) is DeferredGradient and args[1].dim() == 2:
        bias = args[2] if len(args) > 2 else kwargs.get("bias")
        return _linear(args[0], args[1], bias)
    if func is _SPLIT and type(args[0]) is DeferredGradient:
        pieces: tuple[Tensor, ...] = func(*args, **kwargs)
        return tuple(deferred(piece) for piece in pieces)
    if kwargs:
        return None
    if func is torch.addmm and type(args[2]) is DeferredGradient:
        return _times(args[1], args[2], args[0])
    if func in _MATMUL and type(args[1]) is DeferredGradient:
        x, matrix = args
        fits = x.dim() == matrix.dim() > 1 and x.shape[:-2] == matrix.shape[:-2]
        return _times(x, matrix, None) if fits else None
    if func in _VIEWS and type(args[0]) is DeferredGradient:
        return _view(func, args[0], *args[1:])
    return None


def _view(func: Any, matrix: DeferredGradient, *args: Any) -> Tensor | None:
    if not _constant(args):
        return None
    key = func, repr(args)
    if key not in matrix.known:
        matrix.known[key] = deferred(func(matrix, *args))
    found: Tensor = matrix.known[key]
    return found


def _constant(index: Any) -> bool:
    """Whether an index selects the same elements at every step; the contents of a tensor may change."""
    if isinstance(index, tuple):
        return all(map(_constant, index))
    if isinstance(index, slice):
        return _constant((index.start, index.stop, index.step))
    return index is None or index is ... or isinstance(index, int)


def _linear(x: Tensor, weight: DeferredGradient, bias: Tensor | None) -> Tensor:
    transposed = _view(Tensor.t, weight)
    assert isinstance(transposed, DeferredGradient)
    return _times(x.reshape(-1, x.size(-1)), transposed, bias).view(*x.shape[:-1], weight.size(0))


def _times(x: Tensor, matrix: DeferredGradient, more: Tensor | None) -> Tensor:
    """x M + more; `more` is a bias, whose gradient is deferred too, or a tensor of the product's shape."""
    dtype = working_dtype(x)
    bias = more if more is not None and more.dim() == 1 else None
    key = dtype, None if bias is None else id(bias)
    if key not in matrix.known:
        record = _Record(
            matrix.detach().as_subclass(Tensor).to(dtype), None if bias is None else bias.detach().to(dtype)
        )
        # The bias is stored so that its id, part of the key, is not reused.
        matrix.known[key] = record, _MatrixNode.apply(record, matrix, bias), bias  # type: ignore[no-untyped-call]
    record, token, _ = matrix.known[key]
    given = None if more is None or more is bias else more.to(dtype)
    result: Tensor = _RecordedProduct.apply(x.to(dtype), given, token, record)  # type: ignore[no-untyped-call]
    return result


class _Record:
    """A matrix in the dtype of its products, and the rows that one backward pass has recorded for its gradient."""

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        self.matrix, self.bias = matrix, bias
        self.rows: list[tuple[Tensor, Tensor]] = []
        self.backward_pass = -1

    def add(self, x: Tensor, gradient: Tensor) -> None:
        """Record rows; those of an earlier backward pass that did not request weight gradients are discarded."""
        now = backward_pass_id()
        if now != self.backward_pass:
            self.backward_pass, self.rows = now, []
        # Detached: the history of x refers to this record, a reference cycle that is never freed.
        self.rows.append((x.detach(), gradient))

    def take(self) -> list[tuple[Tensor, Tensor]]:
        rows = self.rows if self.backward_pass == backward_pass_id() else []
        self.rows = []
        return rows


class _MatrixNode(torch.autograd.Function):
    """The node through which the matrix enters the graph; its backward pass runs after those of all products."""

    @staticmethod
    def forward(ctx: Any, record: _Record, matrix: Tensor, bias: Tensor | None) -> Tensor:
        ctx.record, ctx.dtypes = record, (matrix.dtype, matrix.dtype if bias is None else bias.dtype)
        ctx.set_materialize_grads(False)
        return record.matrix.new_empty(0)

    @staticmethod
    @first_order_only
    def backward(ctx: Any, _: Tensor | None) -> tuple[Tensor | None, ...]:
        rows = ctx.record.take()
        if not rows:
            return None, None, None
        x, gradient = (torch.cat(kind, dim=-2) if len(rows) > 1 else kind[0] for kind in zip(*rows, strict=True))
        # The parameter's own memory layout: the matrix of a linear layer is a transposed view of its weight.
        matrix = (gradient.mT @ x).mT if ctx.needs_input_grad[1] else None
        bias = gradient.sum(dim=0, dtype=ctx.dtypes[1]) if ctx.needs_input_grad[2] else None
        return None, None if matrix is None else matrix.to(ctx.dtypes[0]), bias


class _RecordedProduct(torch.autograd.Function):
    """One product; its backward pass computes the gradients of x and `given` and records the rows for the matrix."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, given: Tensor | None, token: Tensor, record: _Record) -> Tensor:
        ctx.save_for_backward(x, record.matrix)  # so that autograd notices if the weight changes before backward
        ctx.record = record
        added = record.bias if given is None else given
        return x @ record.matrix if added is None else torch.addmm(added, x, record.matrix)

    @staticmethod
    @first_order_only
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        needs_x, needs_given, needs_matrix, _ = ctx.needs_input_grad
        x, matrix = ctx.saved_tensors
        if needs_matrix:
            ctx.record.add(x, gradient)
        return gradient @ matrix.mT if needs_x else None, gradient if needs_given else None, None, None
