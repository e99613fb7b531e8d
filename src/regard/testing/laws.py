"""The laws themselves: each returns the largest deviation it saw (None: nothing to measure) or raises Skip."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call

from regard.attention.masking import masked_softmax
from regard.attention.protocol import Attended
from regard.testing.subject import BATCH, SOURCE, TARGET, Skip, Subject, apart, gap

Law = Callable[[Subject], float | None]
"""Its name and its docstring are what the report prints."""


def shapes(subject: Subject) -> None:
    """context is [batch, target, value], weights are [batch, head, target, source]"""
    seen = subject.see(subject.query(), subject.states(), subject.real())
    wanted = (BATCH, TARGET, subject.module.value_width)
    if seen.context.shape != wanted:
        raise ValueError(
            f"the context has shape {list(seen.context.shape)}, expected [batch, target, value] {list(wanted)}"
        )
    if seen.weights is not None:
        heads = seen.weights.shape[1] if seen.weights.ndim == 4 else 1
        if seen.weights.shape != (BATCH, heads, TARGET, SOURCE):
            raise ValueError(
                f"the weights have shape {list(seen.weights.shape)}, "
                f"expected [batch, head, target, source] {[BATCH, heads, TARGET, SOURCE]}"
            )


def mask(subject: Subject) -> float:
    """padded positions get weight 0, and their values do not matter, not even NaN"""
    query, states, real = subject.query(), subject.states(), subject.real()
    clean = subject.see(query, states, real)
    worst = (
        0.0 if clean.weights is None else gap(clean.weights * ~real[:, None, None, :], torch.zeros_like(clean.weights))
    )
    for rubbish in (1e30, float("inf"), float("nan")):
        dirty = subject.see(query, torch.where(real[..., None], states, rubbish), real)
        worst = max(worst, apart(clean, dirty))
    return worst


def padding(subject: Subject) -> float:
    """more padding never changes the answer"""
    query, states, real = subject.query(), subject.states(), subject.real()
    more = 3
    longer = torch.cat([states, subject.draw(BATCH, more, subject.state_width, salt=3)], dim=1)
    padded = subject.see(query, longer, torch.cat([real, real.new_zeros(BATCH, more)], dim=1))
    if padded.weights is not None:
        padded = Attended(padded.context, padded.weights[..., :SOURCE])
    return apart(subject.see(query, states, real), padded)


def batch(subject: Subject) -> float:
    """a sentence gets the same answer in a batch as alone"""
    query, states, real = subject.query(), subject.states(), subject.real()
    together = subject.see(query, states, real)
    alone = [subject.see(query[i : i + 1], states[i : i + 1], real[i : i + 1]) for i in range(BATCH)]
    return apart(together, _join(alone, dim=0, weights_dim=0))


def permutation(subject: Subject) -> float:
    """permuting the memory permutes the weights and keeps the context"""
    query, states, real = subject.query(), subject.states(), subject.real()
    seen = subject.see(query, states, real)
    subject.weights_of(seen)
    if subject.ordered:
        raise Skip("the mechanism or its window depends on the order of the positions")
    order = torch.tensor([3, 0, 5, 1, 4, 2], device=states.device)
    moved = subject.see(query, states[:, order], real[:, order])
    return apart(Attended(seen.context, subject.weights_of(seen)[..., order]), moved)


def steps(subject: Subject) -> float:
    """step by step equals all steps at once"""
    query, memory = subject.query(), subject.module.prepare(subject.states(), subject.real())
    whole = subject.module(query, memory, 0)
    each, memories = [], [memory]
    for t in range(TARGET):
        each.append(subject.module(query[:, t : t + 1], memories[t], t))
        memories.append(each[t].memory or memories[t])
    late = subject.module(query[:, 1:], memories[1], 1)
    weights = None if whole.weights is None else whole.weights[..., 1:, :]
    return max(apart(whole, _join(each, dim=1, weights_dim=2)), apart(Attended(whole.context[:, 1:], weights), late))


def memory(subject: Subject) -> float:
    """the answer depends on the memory that is passed, not on the sentence prepared last"""
    # Another sentence prepared in between must not matter: state travels in the Memory, not on the module.
    query, real = subject.query(), subject.real()
    kept = subject.module.prepare(subject.states(), real)
    before = subject.module(query, kept, 0)
    subject.see(subject.query(salt=4), subject.states(salt=5), real)
    return apart(before, subject.module(query, kept, 0))


def distribution(subject: Subject) -> float:
    """weights are not negative and a row sums to 1 (at most 1 where a Gaussian fades it)"""
    weights = subject.weights_of(subject.see(subject.query(), subject.states(), subject.real()))
    excess = weights.sum(dim=-1) - 1
    worst = gap(weights.clamp(max=0), torch.zeros_like(weights))
    if _normalised(subject):
        return max(worst, gap(excess, torch.zeros_like(excess)))
    return max(worst, gap(excess.clamp(min=0), torch.zeros_like(excess)))


def empty(subject: Subject) -> float:
    """a sentence without any real position gets weights of zero, never NaN"""
    query, states, real = subject.query(), subject.states(), subject.real()
    real[1] = False
    seen = subject.see(query, states, real)
    if not seen.context.isfinite().all():
        return float("inf")
    if seen.weights is None:
        return gap(seen.context[1], torch.zeros_like(seen.context[1]))
    silent = subject.see(query, states, real, weights=torch.zeros_like(seen.weights))
    return max(gap(seen.weights[1], torch.zeros_like(seen.weights[1])), gap(seen.context[1], silent.context[1]))


def mixture(subject: Subject) -> float:
    """the context is a mixture of values: weights half and half give the mean context"""
    # Contexts mix as their weights do: half of each weight matrix gives the mean of the two contexts.
    query, states, real = subject.query(), subject.states(), subject.real()
    shape = subject.weights_of(subject.see(query, states, real)).shape
    first, second = (masked_softmax(subject.draw(*shape, salt=salt), real[:, None, None, :]) for salt in (6, 7))
    contexts = [subject.see(query, states, real, weights=w).context for w in (first, second, (first + second) / 2)]
    return gap((contexts[0] + contexts[1]) / 2, contexts[2])


def given(subject: Subject) -> float:
    """weights that are given are used and reported"""
    query, states, real = subject.query(), subject.states(), subject.real()
    seen = subject.see(query, states, real)
    own = subject.weights_of(seen)
    same = subject.see(query, states, real, weights=own)
    other = masked_softmax(subject.draw(*own.shape, salt=8), real[:, None, None, :])
    edited = subject.see(query, states, real, weights=other)
    if gap(edited.context, seen.context) <= subject.tolerance:
        raise ValueError("other weights were given and the context did not change")
    return max(apart(seen, same), gap(subject.weights_of(edited), other))


def select(subject: Subject) -> float:
    """memory.select(rows) reorders and repeats sentences"""
    query, prepared = subject.query(), subject.module.prepare(subject.states(), subject.real())
    rows = torch.tensor([2, 0, 0, 1], device=query.device)
    whole = subject.module(query, prepared, 0)
    weights = None if whole.weights is None else whole.weights[rows]
    return apart(Attended(whole.context[rows], weights), subject.module(query[rows], prepared.select(rows), 0))


def trace(subject: Subject) -> float:
    """the trace's scores, mask and Gaussian make the reported weights"""
    query, states, real = subject.query(), subject.states(), subject.real()
    seen = subject.see(query, states, real, trace=True)
    if seen.trace is None:
        raise Skip("the module keeps no trace")
    weights = masked_softmax(seen.trace.scores, seen.trace.mask)
    if seen.trace.gaussian is not None:
        weights = weights * seen.trace.gaussian
    plain = subject.see(query, states, real)
    return max(gap(weights, subject.weights_of(seen)), gap(seen.trace.query, query), apart(seen, plain))


def finite(subject: Subject) -> None:
    """gradients are finite, with padding, an empty sentence and very large queries"""
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
        for name, found in zip(names, torch.autograd.grad(total, wanted, allow_unused=True), strict=True):
            if found is not None and not found.isfinite().all():
                raise ValueError(f"the gradient of {name} is not finite with queries of size {size:g}")


def gradient(subject: Subject) -> None:
    """gradients of query, states and parameters equal finite differences"""
    if subject.dtype != torch.float64:
        raise Skip(f"finite differences need float64, the check runs in {subject.dtype}")
    query = subject.query()[1:, :2].clone().requires_grad_()
    states = subject.states()[1:].clone().requires_grad_()
    real = subject.real()[1:]
    parameters = _parameters(subject)
    whole = _Whole(subject)

    def answer(query: Tensor, states: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        named = {f"module.{name}": value for name, value in zip(parameters, values, strict=True)}
        found: tuple[Tensor, ...] = functional_call(whole, named, (query, states, real))
        return found

    inputs = (query, states, *(value.detach().clone().requires_grad_() for value in parameters.values()))
    if _is_right(answer, inputs):
        return
    names = ("query", "states", *parameters)
    alone = (tuple(one if one is chosen else one.detach() for one in inputs) for chosen in inputs)
    wrong = [name for name, values in zip(names, alone, strict=True) if not _is_right(answer, values)]
    raise ValueError(
        f"the gradient of {' and of '.join(wrong) or 'some combination of inputs'} differs from finite differences"
    )


def _normalised(subject: Subject) -> bool:
    """Whether rows must sum to one: not with `normalised=False`, nor if the trace has a Gaussian."""
    if subject.normalised is not None:
        return subject.normalised
    kept = subject.see(subject.query(), subject.states(), subject.real(), trace=True).trace
    return kept is None or kept.gaussian is None


def _join(parts: list[Attended], dim: int, weights_dim: int) -> Attended:
    weights: list[Tensor] = [part.weights for part in parts if part.weights is not None]
    return Attended(
        torch.cat([part.context for part in parts], dim=dim),
        torch.cat(weights, dim=weights_dim) if weights else None,
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


LAWS: tuple[Law, ...] = (
    shapes, mask, padding, batch, permutation, steps, memory, distribution, empty, mixture, given, select, trace,
    finite, gradient,
)  # fmt: skip
