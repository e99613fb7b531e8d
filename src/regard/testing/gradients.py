"""The two laws about gradients: finite everywhere, and right where they can be checked."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call

from regard.testing.subject import Skip, Subject


def gradients_are_finite(subject: Subject) -> None:
    """Queries of ordinary and of very large size, and a sentence without any real position."""
    real = subject.real()
    real[1] = False
    for size in (1.0, 1e4):
        query = (subject.query() * size).requires_grad_()
        states = subject.states().requires_grad_()
        seen = subject.see(query, states, real)
        parameters = _parameters(subject)
        wanted = [query, states, *parameters.values()]
        total = seen.context.sum() if seen.weights is None else seen.context.sum() + (seen.weights**2).sum()
        names = ["query", "states", *parameters]
        for name, gradient in zip(names, torch.autograd.grad(total, wanted, allow_unused=True), strict=True):
            if gradient is not None and not gradient.isfinite().all():
                raise ValueError(f"the gradient of {name} is not finite with queries of size {size:g}")


def gradients_are_right(subject: Subject) -> None:
    """`torch.autograd.gradcheck` over query, states and every parameter; a failure names the wrong ones."""
    if subject.dtype != torch.float64:
        raise Skip(f"finite differences need float64, the check runs in {subject.dtype}")
    query = subject.query()[1:, :2].clone().requires_grad_()
    states = subject.states()[1:].clone().requires_grad_()
    real = subject.real()[1:]
    parameters = _parameters(subject)
    whole = _Whole(subject)

    def answer(query: Tensor, states: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        if parameters:
            named = {f"module.{name}": value for name, value in zip(parameters, values, strict=True)}
            found: tuple[Tensor, ...] = functional_call(whole, named, (query, states, real))
            return found
        return whole.forward(query, states, real)

    inputs = (query, states, *(value.detach().clone().requires_grad_() for value in parameters.values()))
    if _is_right(answer, inputs):
        return
    names = ("query", "states", *parameters)
    alone = (tuple(one if one is chosen else one.detach() for one in inputs) for chosen in inputs)
    wrong = [name for name, values in zip(names, alone, strict=True) if not _is_right(answer, values)]
    raise ValueError(
        f"the gradient of {' and of '.join(wrong) or 'some combination of inputs'} differs from finite differences"
    )


def _is_right(answer: Callable[..., tuple[Tensor, ...]], inputs: tuple[Tensor, ...]) -> bool:
    """Whether the gradients of the inputs that require one agree with finite differences."""
    return torch.autograd.gradcheck(answer, inputs, eps=1e-6, atol=1e-6, rtol=1e-4, raise_exception=False)


class _Whole(nn.Module):
    """`prepare` and call as one module, which `functional_call` needs."""

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.module = subject.module

    def forward(self, query: Tensor, states: Tensor, real: Tensor) -> tuple[Tensor, ...]:
        seen = self.module(query, self.module.prepare(states, real), 1)
        return (seen.context,) if seen.weights is None else (seen.context, seen.weights)


def _parameters(subject: Subject) -> dict[str, Tensor]:
    if not isinstance(subject.module, nn.Module):
        return {}
    return {name: value for name, value in subject.module.named_parameters() if value.requires_grad}
