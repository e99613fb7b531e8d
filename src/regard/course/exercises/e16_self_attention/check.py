"""Exercise 16: parity with the reference, gradients, and no leak from the future."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from regard.attention import masking
from regard.attention.attend import attend
from regard.attention.scaled_dot import reference
from regard.attention.scaled_dot.functional import merge_heads, scaled_dot_scores, split_heads
from regard.attention.worked import WorkedView
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law
from regard.course.exercises.e16_self_attention import alternatives, solution
from regard.course.slips import declare

Seen = tuple[Tensor, Tensor]
MATRICES = ("W_q", "W_k", "W_v", "W_o")


def causal_mask(size: int) -> Tensor:
    return masking.causal_mask(size, size)


def scaled_dot(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Seen:
    return attend(scaled_dot_scores(query, keys), values, mask)


def multi_head(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    """The NumPy reference, sentence by sentence."""
    named = zip(MATRICES, (W_q, W_k, W_v, W_o), strict=True)
    plain = {name: matrix.detach().numpy() for name, matrix in named}
    view = WorkedView(mask.numpy())
    sentences = zip(query.detach().numpy(), states.detach().numpy(), strict=True)
    worked = [reference.multi_head(s, h, view, heads, **plain) for s, h in sentences]
    context, weights = (np.stack([getattr(one, name) for one in worked]) for name in ("context", "weights"))
    return torch.from_numpy(context), torch.from_numpy(weights)


def differentiable(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    """Multi-head attention from the package's torch functions, for its gradients."""
    q, k, v = (split_heads(one, heads) for one in (query @ W_q.T, states @ W_k.T, states @ W_v.T))
    context, weights = attend(scaled_dot_scores(q, k), v, mask)
    return merge_heads(context) @ W_o.T, weights


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def some_mask(target: int, source: int) -> Tensor:
    """Every step sees something; something is hidden where there is room for it."""
    mask = torch.rand(target, source) < 0.6
    mask[torch.arange(target), torch.arange(target) % source] = True
    if source > 1:
        mask[0, 1:] = False
    return mask


def for_mask(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {"size": sizes["size"]}


def one_head(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    batch, target, source, width = (sizes[name] for name in ("batch", "target", "source", "width"))
    return {
        "query": normal(batch, target, width) * 2,
        "keys": normal(batch, source, width),
        "values": normal(batch, source, sizes["value"]),
        "mask": some_mask(target, source),
    }


def very_low(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with; those of the hidden places are the lowest."""
    given = one_head({**sizes, "target": 1}, random)
    keys = given["keys"].abs() + 5.0 * ~given["mask"][0, :, None]
    return {**given, "query": -1e31 * given["query"].abs() - 1, "keys": keys}


def large(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = one_head(sizes, random)
    return {**given, "query": given["query"] * 2000}


def several_axes(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = one_head({**sizes, "batch": sizes["batch"] * sizes["head"]}, random)
    front = (sizes["batch"], sizes["head"])
    return {name: value if name == "mask" else value.reshape(*front, *value.shape[1:]) for name, value in given.items()}


def many_heads(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Queries and states of one length, so that whatever is reshaped wrongly still fits."""
    torch.manual_seed(int(random.integers(2**31)))
    batch, length, heads = sizes["batch"], sizes["length"], sizes["heads"]
    width = heads * sizes["part"]
    given = {name: normal(width, width) for name in MATRICES}
    return {
        "query": normal(batch, length, width) * 2,
        "states": normal(batch, length, width),
        "mask": some_mask(length, length),
        "heads": heads,
        **given,
    }


def cross(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Everything of its own size: the look of a decoder at an encoder."""
    torch.manual_seed(int(random.integers(2**31)))
    batch, target, source, heads = (sizes[name] for name in ("batch", "target", "source", "heads"))
    width = heads * sizes["part"]
    return {
        "query": normal(batch, target, 2),
        "states": normal(batch, source, 3),
        "mask": some_mask(target, source),
        "heads": heads,
        "W_q": normal(width, 2),
        "W_k": normal(width, 3),
        "W_v": normal(width, 3),
        "W_o": normal(2, width),
    }


LARGE = {"batch": 2, "length": 4, "heads": 2, "part": 2, "target": 3, "source": 4, "width": 3, "value": 2}


def no_leak(attempt: Attempt, check: Check, random: Generator) -> None:
    given = many_heads(LARGE, random)
    given["mask"] = attempt.causal_mask(4)
    words = given["query"]
    before, weights = attempt.multi_head(**{**given, "states": words})
    for step in range(3):
        other = words.clone()
        other[:, step + 1 :] += 1
        after, _ = attempt.multi_head(**{**given, "query": other, "states": other})
        otherwise = f"Another word after step {step} changed what step {step} or an earlier one says: the future leaks."
        check.same(after[:, : step + 1], before[:, : step + 1], otherwise, labels="other future/before")
    check.that(bool((weights[:, :, 0, 0] == 1).all()), "The first word sees only itself: its weight there must be 1.")


def blind_to_order(attempt: Attempt, check: Check, random: Generator) -> None:
    given = many_heads(LARGE, random)
    given["mask"] = torch.ones(4, 4, dtype=torch.bool)
    order = torch.as_tensor(random.permutation(4))
    words = given["query"]
    straight, _ = attempt.multi_head(**{**given, "states": words})
    shuffled, _ = attempt.multi_head(**{**given, "query": words[:, order], "states": words[:, order]})
    otherwise = "Without a mask self-attention does not know the order of the words: shuffled in, shuffled out."
    check.same(shuffled, straight[:, order], otherwise, labels="shuffled/straight")


def moderate(attempt: Attempt, check: Check, random: Generator) -> None:
    torch.manual_seed(int(random.integers(2**31)))
    mask = torch.ones(1, 8, dtype=torch.bool)
    for width in (4, 400):
        query, keys = normal(50, 1, width), normal(50, 8, width)
        _, weights = attempt.scaled_dot(query, keys, keys, mask)
        largest = float(weights.amax(dim=-1).mean())
        otherwise = f"At width {width} the largest of eight weights is {largest:.2f} on average: the scale is off."
        check.that(0.25 < largest < 0.6, otherwise)


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    check.gradients(attempt.scaled_dot, scaled_dot, one_head(LARGE, random))
    check.gradients(attempt.multi_head, differentiable, many_heads(LARGE, random))


ONE = {"batch": (1, 2), "target": (1, 3), "source": (1, 4), "width": (1, 4), "value": (1, 2)}
MANY = {"batch": (1, 2), "length": (1, 4), "heads": (1, 3), "part": (1, 2)}
OUTPUTS = ("context", "weights")
CAUSES = OUTPUTS[::-1]
STABLE: dict[str, Any] = {
    "function": "scaled_dot",
    "outputs": OUTPUTS,
    "causes": CAUSES,
    "kind": "stability",
    "count": 6,
}

EXERCISE = declare(
    __file__,
    reference={"causal_mask": causal_mask, "scaled_dot": scaled_dot, "multi_head": multi_head},
    families=(
        Family("causal_mask", for_mask, {"size": (1, 5)}, function="causal_mask", outputs=("mask",), count=4),
        Family(
            "scaled_dot: one head", one_head, ONE, function="scaled_dot", outputs=OUTPUTS, causes=OUTPUTS[::-1], count=8
        ),
        Family(
            "scaled_dot: two axes in front",
            several_axes,
            {**ONE, "head": (2, 2)},
            function="scaled_dot",
            outputs=OUTPUTS,
            count=4,
        ),
        Family("scaled_dot: scores in the thousands", large, ONE, **STABLE),
        Family("scaled_dot: very negative scores", very_low, ONE, **STABLE),
        Family(
            "multi_head: words among themselves",
            many_heads,
            MANY,
            function="multi_head",
            outputs=OUTPUTS,
            causes=OUTPUTS[::-1],
            count=8,
        ),
        Family(
            "multi_head: queries and states that differ",
            cross,
            {"batch": (1, 2), "target": (1, 3), "source": (1, 4), "heads": (1, 2), "part": (1, 2)},
            function="multi_head",
            outputs=OUTPUTS,
            count=6,
        ),
    ),
    laws=(
        Law("no leak", "with the causal mask no step notices a later word", no_leak),
        Law("blind to order", "without mask and positions, words shuffled in come out shuffled", blind_to_order),
        Law("moderate scores", "thanks to √d the weights are as soft at width 400 as at width 4", moderate),
        Law("gradients", "the gradient reaches every input", gradients),
    ),
    alternatives=(
        {
            "causal_mask": alternatives.mask_by_comparing,
            "scaled_dot": alternatives.scaled_first,
            "multi_head": alternatives.head_by_head,
        },
        {
            "causal_mask": alternatives.mask_by_triangle,
            "scaled_dot": solution.scaled_dot,
            "multi_head": alternatives.one_einsum,
        },
    ),
    praise="Stack this six times, add positions and a little plumbing, and it is Vaswani et al. (2017).",
)
