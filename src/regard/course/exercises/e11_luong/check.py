"""Exercise 11: three parities with the references; the query is s_t; the readout is tanh(W_c [c; s])."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from regard.attention.masking import masked_softmax
from regard.attention.multiplicative import reference
from regard.attention.multiplicative.functional import concat_scores, dot_scores
from regard.attention.worked import global_view
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e11_luong import alternatives, mistakes, solution
from regard.course.exercises.e11_luong.general import General
from regard.course.slips import declare


def by_reference(worked: Callable[..., Any], query: Tensor, states: Tensor, **matrices: Tensor) -> Tensor:
    """The NumPy reference, sentence by sentence."""
    view = global_view(np.ones(states.shape[1], dtype=bool), 1)
    plain = {name: matrix.detach().numpy() for name, matrix in matrices.items()}
    pairs = zip(query.detach().numpy(), states.detach().numpy(), strict=True)
    return torch.from_numpy(np.stack([worked(s[None], h, view, **plain).scores[0] for s, h in pairs]))


def dot_score(query: Tensor, states: Tensor) -> Tensor:
    return by_reference(reference.dot, query, states)


def general_score(query: Tensor, states: Tensor, W_a: Tensor) -> Tensor:
    return by_reference(reference.general, query, states, W_a=W_a)


def concat_score(query: Tensor, states: Tensor, W_a: Tensor, v: Tensor) -> Tensor:
    return by_reference(reference.concat, query, states, W_a=W_a, v=v)


def luong_step(
    score: Callable[[Tensor, Tensor], Tensor],
    cell: nn.GRUCell,
    word: Tensor,
    before: Tensor,
    states: Tensor,
    real: Tensor,
    W_c: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Step, look, combine."""
    after: Tensor = cell(word, before)
    weights = masked_softmax(score(after, states), real)
    context = torch.einsum("bs,bsd->bd", weights, states)
    return torch.tanh(torch.cat([context, after], dim=-1) @ W_c.T), after, weights


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def for_dot(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    batch, source, width = sizes["batch"], sizes["source"], sizes["width"]
    return {"query": normal(batch, width), "states": normal(batch, source, width)}


def for_general(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    batch, query, state = sizes["batch"], sizes["query"], sizes["state"]
    return {
        "query": normal(batch, query),
        "states": normal(batch, sizes["source"], state),
        "W_a": normal(query, state),
    }


def square(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Equal widths: what is left out or transposed still multiplies."""
    return for_general({**sizes, "query": sizes["width"], "state": sizes["width"]}, random)


def for_concat(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = for_general(sizes, random)
    width = sizes["width"]
    return {**given, "W_a": normal(width, sizes["query"] + sizes["state"]), "v": normal(width)}


def for_step(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """State and hidden may be equally wide, so that whatever is swapped still multiplies."""
    torch.manual_seed(int(random.integers(2**31)))
    batch, source, hidden, state = (sizes[name] for name in ("batch", "source", "hidden", "state"))
    lengths = torch.randint(1, source + 1, (batch, 1))
    lengths[0] = max(1, source - 1)
    return {
        "score": General(normal(hidden, state) * 2),
        "cell": nn.GRUCell(2, hidden).double(),
        "word": normal(batch, 2),
        "before": normal(batch, hidden),
        "states": normal(batch, source, state),
        "real": torch.arange(source) < lengths,
        "W_c": normal(2, state + hidden),
    }


def very_low(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with; those of the padding are the lowest."""
    given = for_step(sizes, random)
    with torch.no_grad():
        given["cell"].bias_ih.add_(5.0)  # the new state is positive
    states = given["states"].abs() + 5.0 * ~given["real"][..., None]
    return {
        **given,
        "before": given["before"].abs() + 1,
        "states": states,
        "score": General(-1e31 * given["score"].W_a.abs()),
    }


LARGE = {"batch": 2, "source": 4, "hidden": 3, "state": 3, "query": 2, "width": 3}


def query_is_new(attempt: Attempt, check: Check, random: Generator) -> None:
    given = for_step(LARGE, random)
    _, after, weights = attempt.luong_step(**given)
    _, other, moved = attempt.luong_step(**{**given, "word": given["word"] + 1})
    check.that(bool((other - after).abs().max() > 1e-6), "Another last word left s_t as it was.")
    check.that(
        bool((moved - weights).abs().max() > 1e-6),
        "Another last word left the weights as they were: the query must be s_t, which has read it.",
    )


def context_stays_out(attempt: Attempt, check: Check, random: Generator) -> None:
    given = for_step(LARGE, random)
    vector, after, _ = attempt.luong_step(**given)
    seen, same, _ = attempt.luong_step(**{**given, "states": given["states"] + 1})
    check.same(same, after, "Other notes changed s_t: the context belongs to the readout, not into the cell.")
    check.that(bool((seen - vector).abs().max() > 1e-6), "Other notes left the attentional vector as it was.")


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = for_step(LARGE, random)
    clean = attempt.luong_step(**given)
    rubbish = torch.where(given["real"][..., None], given["states"], 7.0)
    dirty = attempt.luong_step(**{**given, "states": rubbish})
    for name, mine, want in zip(("attentional vector", "new state", "weights"), dirty, clean, strict=True):
        check.same(mine, want, f"Other numbers at the padding changed the {name}.", labels="other/before")


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    check.gradients(
        attempt.dot_score,
        lambda query, states: dot_scores(query[:, None], states)[:, 0],
        for_dot(LARGE, random),
    )
    check.gradients(
        attempt.general_score,
        lambda query, states, W_a: dot_scores(query[:, None], states @ W_a.T)[:, 0],
        for_general(LARGE, random),
    )

    def concat(query: Tensor, states: Tensor, W_a: Tensor, v: Tensor) -> Tensor:
        split = query.shape[1]
        return concat_scores((query @ W_a[:, :split].T)[:, None], states @ W_a[:, split:].T, v)[:, 0]

    check.gradients(attempt.concat_score, concat, for_concat(LARGE, random))
    check.gradients(attempt.luong_step, luong_step, for_step(LARGE, random))


WIDTHS = {"batch": (1, 2), "source": (1, 3), "query": (1, 3), "state": (1, 3)}
STEP = {"batch": (1, 3), "source": (1, 4), "hidden": (1, 3), "state": (1, 3)}
OUTPUTS = ("scores",)
CAUSES = ("the new state", "the weights", "the attentional vector")
PARTS = ("the attentional vector", "the new state", "the weights")

EXERCISE = declare(
    __file__,
    reference={
        "dot_score": dot_score,
        "general_score": general_score,
        "concat_score": concat_score,
        "luong_step": luong_step,
    },
    families=(
        Family(
            "dot_score",
            for_dot,
            {"batch": (1, 3), "source": (1, 4), "width": (1, 4)},
            function="dot_score",
            outputs=OUTPUTS,
            count=6,
        ),
        Family(
            "general_score: equal widths",
            square,
            {"batch": (1, 2), "source": (1, 3), "width": (1, 3)},
            function="general_score",
            outputs=OUTPUTS,
            count=6,
        ),
        Family(
            "general_score: widths that differ",
            for_general,
            WIDTHS,
            function="general_score",
            outputs=OUTPUTS,
            count=6,
        ),
        Family(
            "concat_score",
            for_concat,
            {**WIDTHS, "width": (1, 3)},
            function="concat_score",
            outputs=OUTPUTS,
            count=6,
        ),
        Family("luong_step", for_step, STEP, function="luong_step", outputs=PARTS, causes=CAUSES, count=8),
        Family(
            "luong_step: very negative scores",
            very_low,
            STEP,
            function="luong_step",
            outputs=PARTS,
            causes=CAUSES,
            kind="stability",
        ),
    ),
    laws=(
        Law("the query is s_t", "the weights depend on the word that the step has just read", query_is_new),
        Law("the context stays outside", "the notes change the attentional vector, not the state", context_stays_out),
        Law("padding", "whatever stands at the padding changes nothing", padding),
        Law("gradients", "the gradient reaches every input", gradients),
    ),
    mistakes=(
        Mistake(
            "previous_state",
            "You look with s_{t-1}. That is Bahdanau's order (exercise 7); Luong runs the cell first and looks with "
            "the state that comes out of it, s_t.",
            ({"luong_step": mistakes.previous_state}, {"luong_step": mistakes.previous_state_everywhere}),
        ),
    ),
    alternatives=(
        {
            "dot_score": alternatives.dot_in_einsum,
            "general_score": alternatives.general_projects_the_states,
            "concat_score": alternatives.concat_in_two_products,
            "luong_step": alternatives.step_with_products,
        },
        {
            "dot_score": solution.dot_score,
            "general_score": alternatives.general_as_bilinear,
            "concat_score": solution.concat_score,
        },
    ),
    praise="Three scores, one step: Luong, Pham and Manning (2015), sections 3.1 and 3, in forty lines.",
)
