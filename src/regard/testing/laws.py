"""The laws themselves: each returns the largest deviation it saw (None: nothing to measure) or raises Skip."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.attention.masking import masked_softmax
from regard.attention.protocol import Attended
from regard.testing.gradients import gradients_are_finite, gradients_are_right
from regard.testing.subject import BATCH, SOURCE, TARGET, Skip, Subject, apart, gap


@dataclass(frozen=True)
class Law:
    """A name, the sentence that the report prints, and the trial."""

    name: str
    meaning: str
    trial: Callable[[Subject], float | None]


def shapes(subject: Subject) -> None:
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
    query, states, real = subject.query(), subject.states(), subject.real()
    more = 3
    longer = torch.cat([states, subject.draw(BATCH, more, subject.state_width, salt=3)], dim=1)
    padded = subject.see(query, longer, torch.cat([real, real.new_zeros(BATCH, more)], dim=1))
    if padded.weights is not None:
        padded = Attended(padded.context, padded.weights[..., :SOURCE])
    return apart(subject.see(query, states, real), padded)


def batch(subject: Subject) -> float:
    query, states, real = subject.query(), subject.states(), subject.real()
    together = subject.see(query, states, real)
    alone = [subject.see(query[i : i + 1], states[i : i + 1], real[i : i + 1]) for i in range(BATCH)]
    return apart(together, _join(alone, dim=0, weights_dim=0))


def permutation(subject: Subject) -> float:
    query, states, real = subject.query(), subject.states(), subject.real()
    seen = subject.see(query, states, real)
    subject.weights_of(seen)
    if subject.ordered:
        raise Skip("the mechanism or its window depends on the order of the positions")
    order = torch.tensor([3, 0, 5, 1, 4, 2], device=states.device)
    moved = subject.see(query, states[:, order], real[:, order])
    return apart(Attended(seen.context, subject.weights_of(seen)[..., order]), moved)


def steps(subject: Subject) -> float:
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
    """Another sentence prepared in between must not matter: state travels in the Memory, not on the module."""
    query, real = subject.query(), subject.real()
    kept = subject.module.prepare(subject.states(), real)
    before = subject.module(query, kept, 0)
    subject.see(subject.query(salt=4), subject.states(salt=5), real)
    return apart(before, subject.module(query, kept, 0))


def distribution(subject: Subject) -> float:
    weights = subject.weights_of(subject.see(subject.query(), subject.states(), subject.real()))
    excess = weights.sum(dim=-1) - 1
    worst = gap(weights.clamp(max=0), torch.zeros_like(weights))
    if _normalised(subject):
        return max(worst, gap(excess, torch.zeros_like(excess)))
    return max(worst, gap(excess.clamp(min=0), torch.zeros_like(excess)))


def empty(subject: Subject) -> float:
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
    """Contexts mix as their weights do: half of each weight matrix gives the mean of the two contexts."""
    query, states, real = subject.query(), subject.states(), subject.real()
    shape = subject.weights_of(subject.see(query, states, real)).shape
    first, second = (masked_softmax(subject.draw(*shape, salt=salt), real[:, None, None, :]) for salt in (6, 7))
    contexts = [subject.see(query, states, real, weights=w).context for w in (first, second, (first + second) / 2)]
    return gap((contexts[0] + contexts[1]) / 2, contexts[2])


def given(subject: Subject) -> float:
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
    query, prepared = subject.query(), subject.module.prepare(subject.states(), subject.real())
    rows = torch.tensor([2, 0, 0, 1], device=query.device)
    whole = subject.module(query, prepared, 0)
    weights = None if whole.weights is None else whole.weights[rows]
    return apart(Attended(whole.context[rows], weights), subject.module(query[rows], prepared.select(rows), 0))


def trace(subject: Subject) -> float:
    query, states, real = subject.query(), subject.states(), subject.real()
    seen = subject.see(query, states, real, trace=True)
    if seen.trace is None:
        raise Skip("the module keeps no trace")
    weights = masked_softmax(seen.trace.scores, seen.trace.mask)
    if seen.trace.gaussian is not None:
        weights = weights * seen.trace.gaussian
    plain = subject.see(query, states, real)
    return max(gap(weights, subject.weights_of(seen)), gap(seen.trace.query, query), apart(seen, plain))


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


LAWS = (
    Law("shapes", "context is [batch, target, value], weights are [batch, head, target, source]", shapes),
    Law("mask", "padded positions get weight 0, and their values do not matter, not even NaN", mask),
    Law("padding", "more padding never changes the answer", padding),
    Law("batch", "a sentence gets the same answer in a batch as alone", batch),
    Law("permutation", "permuting the memory permutes the weights and keeps the context", permutation),
    Law("steps", "step by step equals all steps at once", steps),
    Law("memory", "the answer depends on the memory that is passed, not on the sentence prepared last", memory),
    Law(
        "distribution",
        "weights are not negative and a row sums to 1 (at most 1 where a Gaussian fades it)",
        distribution,
    ),
    Law("empty", "a sentence without any real position gets weights of zero, never NaN", empty),
    Law("mixture", "the context is a mixture of values: weights half and half give the mean context", mixture),
    Law("given", "weights that are given are used and reported", given),
    Law("select", "memory.select(rows) reorders and repeats sentences", select),
    Law("trace", "the trace's scores, mask and Gaussian make the reported weights", trace),
    Law("finite", "gradients are finite, with padding, an empty sentence and very large queries", gradients_are_finite),
    Law("gradient", "gradients of query, states and parameters equal finite differences", gradients_are_right),
)
