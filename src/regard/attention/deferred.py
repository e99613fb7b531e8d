"""A matrix that every step of a loop multiplies with: its gradient is ONE product after the last step.

Autograd computes a full-size gradient of a weight at each step and adds it to the others. An `Opened` weight enters the
graph through one node, and the backward pass of a step only notes its rows x and δy; autograd reaches that node when
all steps have, and there dW = Σ x' δy is a single product over all rows.

    W = opened(weight)            stands for the weight: x @ W, linear(x, W), addmm(y, x, W), and these on views of it;
    for …: y = linear(x, W)       whatever else is done with it, autograd differentiates as ever

The matrices of a batch (values that are mixed, keys that are compared) are opened in the same way.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from regard.attention.once import once
from regard.attention.precision import working_dtype

_MATMUL: frozenset[Callable[..., Tensor]] = frozenset({torch.matmul, Tensor.matmul, Tensor.__matmul__})
_SPLIT: Callable[..., tuple[Tensor, ...]] = Tensor.split
_VIEWS: frozenset[Callable[..., Tensor]] = frozenset(
    {Tensor.__getitem__, Tensor.t, Tensor.transpose, Tensor.unsqueeze, Tensor.mT.__get__}  # type: ignore[attr-defined]
)


class Opened(Tensor):
    """A tensor that notes what it is multiplied with; made by `opened`."""

    known: dict[object, Any]
    """Its views, opened in their turn, and the books of its products: each is made once."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            if torch.is_grad_enabled():
                found = _deferred(func, args, kwargs or {})
                if found is not None:
                    return found
            return func(*args, **(kwargs or {}))


def opened(matrix: Tensor) -> Tensor:
    """The same numbers, ready for a loop."""
    made = matrix.as_subclass(Opened)
    made.known = {}
    return made


def _deferred(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The product or the view, where it is one that is opened and called as a loop calls it; else None."""
    if func is functional.linear and len(args) > 1 and type(args[1]) is Opened and args[1].dim() == 2:
        bias = args[2] if len(args) > 2 else kwargs.get("bias")
        return _linear(args[0], args[1], bias)
    if func is _SPLIT and type(args[0]) is Opened:
        pieces: tuple[Tensor, ...] = func(*args, **kwargs)
        return tuple(opened(piece) for piece in pieces)
    if kwargs:
        return None
    if func is torch.addmm and type(args[2]) is Opened:
        return _times(args[1], args[2], args[0])
    if func in _MATMUL and type(args[1]) is Opened:
        x, matrix = args
        fits = x.dim() == matrix.dim() > 1 and x.shape[:-2] == matrix.shape[:-2]
        return _times(x, matrix, None) if fits else None
    if func in _VIEWS and type(args[0]) is Opened:
        return _view(func, args[0], *args[1:])
    return None


def _view(func: Any, matrix: Opened, *args: Any) -> Tensor | None:
    if not _lasting(args):
        return None
    name = func, repr(args)
    if name not in matrix.known:
        matrix.known[name] = opened(func(matrix, *args))
    found: Tensor = matrix.known[name]
    return found


def _lasting(index: Any) -> bool:
    """Whether it says the same at every step; a tensor may hold other numbers tomorrow."""
    if isinstance(index, tuple):
        return all(map(_lasting, index))
    if isinstance(index, slice):
        return _lasting((index.start, index.stop, index.step))
    return index is None or index is ... or isinstance(index, int)


def _linear(x: Tensor, weight: Opened, bias: Tensor | None) -> Tensor:
    turned = _view(Tensor.t, weight)
    assert isinstance(turned, Opened)
    return _times(x.reshape(-1, x.size(-1)), turned, bias).view(*x.shape[:-1], weight.size(0))


def _times(x: Tensor, matrix: Opened, more: Tensor | None) -> Tensor:
    """x M + more; more is a bias, noted too, or a tensor as large as the product."""
    dtype = working_dtype(x)
    bias = more if more is not None and more.dim() == 1 else None
    name = dtype, None if bias is None else id(bias)
    if name not in matrix.known:
        book = _Book(matrix.detach().as_subclass(Tensor).to(dtype), None if bias is None else bias.detach().to(dtype))
        # The bias is kept so that no other can come to have its id.
        matrix.known[name] = book, _Open.apply(book, matrix, bias), bias  # type: ignore[no-untyped-call]
    book, token, _ = matrix.known[name]
    given = None if more is None or more is bias else more.to(dtype)
    result: Tensor = _Times.apply(x.to(dtype), given, token, book)  # type: ignore[no-untyped-call]
    return result


class _Book:
    """A matrix in the precision of its products, and the rows they met in one backward pass."""

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        self.matrix, self.bias = matrix, bias
        self.rows: list[tuple[Tensor, Tensor]] = []
        self.backward_pass = -1

    def note(self, x: Tensor, gradient: Tensor) -> None:
        """A pass that never came to its end, because it did not ask for the weights, leaves nothing behind."""
        now = torch._C._current_graph_task_id()
        if now != self.backward_pass:
            self.backward_pass, self.rows = now, []
        # Without its history: that leads back to this book, and nobody would ever let go of it.
        self.rows.append((x.detach(), gradient))

    def close(self) -> list[tuple[Tensor, Tensor]]:
        rows = self.rows if self.backward_pass == torch._C._current_graph_task_id() else []
        self.rows = []
        return rows


class _Open(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, book: _Book, matrix: Tensor, bias: Tensor | None) -> Tensor:
        ctx.book, ctx.dtypes = book, (matrix.dtype, matrix.dtype if bias is None else bias.dtype)
        ctx.set_materialize_grads(False)
        return book.matrix.new_empty(0)

    @staticmethod
    @once
    def backward(ctx: Any, _: Tensor | None) -> tuple[Tensor | None, ...]:
        rows = ctx.book.close()
        if not rows:
            return None, None, None
        x, gradient = (torch.cat(kind, dim=-2) if len(rows) > 1 else kind[0] for kind in zip(*rows, strict=True))
        # The weights' own layout: a linear layer's matrix is seen through a transposition.
        matrix = (gradient.mT @ x).mT if ctx.needs_input_grad[1] else None
        bias = gradient.sum(dim=0, dtype=ctx.dtypes[1]) if ctx.needs_input_grad[2] else None
        return None, None if matrix is None else matrix.to(ctx.dtypes[0]), bias


class _Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, given: Tensor | None, token: Tensor, book: _Book) -> Tensor:
        ctx.save_for_backward(x, book.matrix)  # autograd then notices if somebody changes the weight before backward
        ctx.book = book
        added = book.bias if given is None else given
        return x @ book.matrix if added is None else torch.addmm(added, x, book.matrix)

    @staticmethod
    @once
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        needs_x, needs_given, needs_matrix, _ = ctx.needs_input_grad
        x, matrix = ctx.saved_tensors
        if needs_matrix:
            ctx.book.note(x, gradient)
        return gradient @ matrix.mT if needs_x else None, gradient if needs_given else None, None, None
