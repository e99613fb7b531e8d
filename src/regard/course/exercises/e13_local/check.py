"""Exercise 13: p_t inside the sentence, a window of 2D + 1 words, a Gaussian with σ = D / 2."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from regard.attention.local import reference
from regard.attention.local.functional import gaussian_fade, predicted_center, window_mask
from regard.attention.masking import lengths_to_mask, masked_softmax
from regard.attention.worked import WorkedView, weights_of
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law
from regard.course.exercises.e13_local import alternatives
from regard.course.slips import declare


def _rows(scores: Tensor, views: list[WorkedView]) -> Tensor:
    rows = [weights_of(row[None], view)[0] for row, view in zip(scores.detach().numpy(), views, strict=True)]
    return torch.from_numpy(np.stack(rows))


def _real(scores: Tensor, lengths: Tensor) -> list[np.ndarray]:
    return list(lengths_to_mask(lengths, scores.shape[1]).numpy())


def local_m(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    """The NumPy reference, sentence by sentence."""
    nothing = np.zeros((1, 1))
    views = [reference.local_m(nothing, real, reach=reach, position=step) for real in _real(scores, lengths)]
    return _rows(scores, views)


def local_p(
    scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor
) -> tuple[Tensor, Tensor]:
    """The NumPy reference, sentence by sentence."""
    matrices = {"W_p": W_p.detach().numpy(), "v_p": v_p.detach().numpy()}
    queries = state.detach().numpy()
    views = [
        reference.local_p(query[None], real, reach=reach, **matrices)
        for query, real in zip(queries, _real(scores, lengths), strict=True)
    ]
    centers = [view.center for view in views if view.center is not None]
    return _rows(scores, views), torch.from_numpy(np.concatenate(centers))


def differentiable(
    scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor
) -> tuple[Tensor, Tensor]:
    """Local-p from the package's torch functions, for its gradients."""
    real = lengths_to_mask(lengths, scores.shape[1])
    center = predicted_center((state @ W_p.T)[:, None], v_p, lengths)
    weights = masked_softmax(scores[:, None, None], window_mask(center, real, reach))
    return (weights * gaussian_fade(center, scores.shape[1], reach))[:, 0, 0], center[:, 0]


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def marching(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """One sentence is shorter than the rest; steps run past every end."""
    torch.manual_seed(int(random.integers(2**31)))
    batch, source = sizes["batch"], sizes["source"]
    lengths = torch.randint(1, source + 1, (batch,))
    lengths[0] = max(1, source - 2)
    return {"scores": normal(batch, source), "step": sizes["step"], "lengths": lengths, "reach": sizes["reach"]}


def very_low(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with."""
    given = marching(sizes, random)
    return {**given, "scores": given["scores"] - 1e31}


def predicted(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = marching({**sizes, "step": 0}, random)
    del given["step"]
    hidden, width = sizes["hidden"], sizes["width"]
    return {
        **given,
        "state": normal(sizes["batch"], hidden) * 2,
        "W_p": normal(width, hidden),
        "v_p": normal(width) * 2,
    }


LARGE = {"batch": 4, "source": 9, "step": 3, "reach": 2, "hidden": 3, "width": 3}


def inside(attempt: Attempt, check: Check, random: Generator) -> None:
    for _ in range(5):
        given = predicted(LARGE, random)
        _, centers = attempt.local_p(**given)
        holds = bool(((centers > 0) & (centers < given["lengths"])).all())
        check.that(
            holds,
            "A centre p_t lies outside its sentence: S is the number of its real words.",
            f"p_t      {[round(one, 2) for one in centers.tolist()]}",
            f"lengths  {given['lengths'].tolist()}",
        )


def dark_outside(attempt: Attempt, check: Check, random: Generator) -> None:
    given = marching(LARGE, random)
    for step in (0, 3, 8, 20):
        weights = attempt.local_m(**{**given, "step": step})
        centers = torch.minimum(torch.tensor(step), given["lengths"] - 1)
        places = torch.arange(9)
        outside = ((places - centers[:, None]).abs() > 2) | (places >= given["lengths"][:, None])
        check.that(bool((weights[outside] == 0).all()), f"Step {step}: a word outside the window is seen.")
        check.same(weights.sum(dim=-1), torch.ones(4, dtype=torch.float64), f"Step {step}: the row does not sum to 1.")


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = predicted(LARGE, random)
    weights, centers = attempt.local_p(**given)
    longer = torch.cat([given["scores"], torch.full((4, 3), 5.0, dtype=torch.float64)], dim=1)
    padded, moved = attempt.local_p(**{**given, "scores": longer})
    check.same(moved, centers, "Three more columns of padding moved p_t.", labels="padded/before")
    check.same(padded[:, :9], weights, "Three more columns of padding changed the weights.", labels="padded/before")


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    check.gradients(
        attempt.local_p,
        differentiable,
        predicted(LARGE, random),
        "The values are right, but the gradient of `{name}` is not: p_t learns through the Gaussian.",
    )


MARCHING = {"batch": (1, 3), "source": (1, 7), "step": (0, 5), "reach": (1, 3)}
PREDICTED = {"batch": (1, 3), "source": (1, 6), "reach": (1, 3), "hidden": (1, 2), "width": (1, 2)}

EXERCISE = declare(
    __file__,
    reference={"local_m": local_m, "local_p": local_p},
    families=(
        Family("local_m", marching, MARCHING, function="local_m", outputs=("weights",), count=16),
        Family(
            "local_m: very negative scores",
            very_low,
            MARCHING,
            function="local_m",
            outputs=("weights",),
            kind="stability",
        ),
        Family("local_p", predicted, PREDICTED, function="local_p", outputs=("weights", "p_t")),
        Family(
            "local_p: long sentences",
            predicted,
            {**PREDICTED, "source": (7, 9)},
            function="local_p",
            outputs=("weights", "p_t"),
            count=4,
        ),
    ),
    laws=(
        Law("p_t inside the sentence", "0 < p_t < S, S the number of real words", inside),
        Law("dark outside the window", "local-m sees at most 2D + 1 words, which share all the weight", dark_outside),
        Law("padding", "more padding moves neither p_t nor a weight", padding),
        Law("gradients", "W_p and v_p learn where to look", gradients),
    ),
    alternatives=(
        {"local_m": alternatives.m_by_slices, "local_p": alternatives.p_by_slices},
        {"local_m": alternatives.m_with_lowest_float, "local_p": alternatives.p_by_slices},
    ),
    praise="A window, a centre that learns, a soft edge: Luong, Pham and Manning (2015), section 3.2.",
)
