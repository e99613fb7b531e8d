"""Exercise 7: parity with the package's additive attention; the query is s_{t-1}; the context is fed."""

from collections.abc import Mapping

import torch
from numpy.random import Generator
from torch import Tensor, nn

from regard.attention.additive.functional import additive_attention
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law
from regard.course.exercises.e07_decoder_step import alternatives
from regard.course.slips import declare


def decoder_step(
    cell: nn.GRUCell, W_s: Tensor, W_h: Tensor, v: Tensor, word: Tensor, before: Tensor, states: Tensor, real: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The package's additive attention, then the cell."""
    query = (before @ W_s.T)[:, None]
    context, weights = additive_attention(query, states @ W_h.T, v, states, real[:, None])
    assert weights is not None
    after: Tensor = cell(torch.cat([word, context[:, 0]], dim=-1), before)
    return after, context[:, 0], weights[:, 0]


def any_sizes(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    batch, source, word, hidden, state, width = (
        sizes[name] for name in ("batch", "source", "word", "hidden", "state", "width")
    )
    lengths = torch.randint(1, source + 1, (batch, 1))
    lengths[0] = max(1, source - 1)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64)

    return {
        "cell": nn.GRUCell(word + state, hidden).double(),
        "W_s": normal(width, hidden),
        "W_h": normal(width, state),
        "v": normal(width) * 2,
        "word": normal(batch, word),
        "before": normal(batch, hidden),
        "states": normal(batch, source, state),
        "real": torch.arange(source) < lengths,
    }


def square(sizes: Mapping[str, int], random: Generator) -> Arguments:
    size = sizes["size"]
    return any_sizes({**sizes, "word": size, "hidden": size, "state": size, "width": size}, random)


def very_low(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with; those of the padding are the lowest."""
    given = any_sizes(sizes, random)
    lowered = {name: given[name].abs() for name in ("W_s", "W_h", "before", "states")}
    lowered["states"] = lowered["states"] + 5.0 * ~given["real"][..., None]
    return {**given, **lowered, "v": -1e31 * given["v"].abs()}


LARGE = {"batch": 2, "source": 4, "word": 2, "hidden": 3, "state": 3, "width": 4}


def looks_with_the_old_state(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_sizes(LARGE, random)
    _, _, weights = attempt.decoder_step(**given)
    _, _, other = attempt.decoder_step(**{**given, "word": given["word"] + 1})
    otherwise = (
        "Another last word changed the weights of this step: the query must be s_{t-1}, which has not read it yet."
    )
    check.same(other, weights, otherwise, labels="other word/before")
    _, _, moved = attempt.decoder_step(**{**given, "before": -given["before"]})
    check.that(bool((moved - weights).abs().max() > 1e-6), "Another s_{t-1} left the weights as they were.")


def feeds_the_context(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_sizes(LARGE, random)
    after, _, _ = attempt.decoder_step(**given)
    other, _, _ = attempt.decoder_step(**{**given, "states": given["states"] + 1})
    check.that(bool((other - after).abs().max() > 1e-6), "Other notes left s_t as it was: the context is not fed.")


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_sizes(LARGE, random)
    clean = attempt.decoder_step(**given)
    rubbish = torch.where(given["real"][..., None], given["states"], 7.0)
    dirty = attempt.decoder_step(**{**given, "states": rubbish})
    for name, mine, want in zip(("new state", "context", "weights"), dirty, clean, strict=True):
        check.same(mine, want, f"Other numbers at the padding changed the {name}.", labels="other/before")


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    check.gradients(attempt.decoder_step, decoder_step, any_sizes(LARGE, random))


SIZES = {"batch": (1, 3), "source": (1, 4), "word": (1, 2), "hidden": (1, 3), "state": (1, 3), "width": (1, 4)}
OUTPUTS = ("the new state", "the context", "the weights")

EXERCISE = declare(
    __file__,
    reference={"decoder_step": decoder_step},
    families=(
        Family(
            "every width equal",
            square,
            {"batch": (1, 2), "source": (2, 4), "size": (1, 2)},
            outputs=OUTPUTS,
            causes=OUTPUTS[::-1],
            count=8,
        ),
        Family("widths that differ", any_sizes, SIZES, outputs=OUTPUTS, causes=OUTPUTS[::-1], count=8),
        Family("very negative scores", very_low, SIZES, outputs=OUTPUTS, causes=OUTPUTS[::-1], kind="stability"),
    ),
    laws=(
        Law(
            "the query is s_{t-1}",
            "the weights depend on the state before the step, not on its word",
            looks_with_the_old_state,
        ),
        Law("the context is fed", "what was seen enters the new state", feeds_the_context),
        Law("padding", "whatever stands at the padding changes nothing", padding),
        Law("gradients", "the gradient reaches every input", gradients),
    ),
    alternatives=(
        {"decoder_step": alternatives.with_batched_products},
        {"decoder_step": alternatives.sentence_by_sentence},
    ),
    praise="You have written the step of the 2014 paper: look with s_{t-1}, then move on with what you saw.",
)
