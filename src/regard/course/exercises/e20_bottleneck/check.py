"""Exercise 20: the fixed vector, the measurement, and what both say about two trained models."""

from collections.abc import Mapping

import torch
from numpy.random import Generator
from torch import Tensor

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e20_bottleneck import alternatives, mistakes, two_models
from regard.course.slips import declare

COST = 0.25


def fixed_context(query: Tensor, states: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Row by row."""
    weights = torch.zeros_like(states[..., 0])
    contexts = []
    for row, count in enumerate(real.sum(dim=1).tolist()):
        weights[row, count - 1] = 1.0
        contexts.append(states[row, count - 1])
    return torch.stack(contexts), weights


def quality_by_length(hypotheses: list[list[int]], references: list[list[int]], edges: list[int]) -> list[float | None]:
    """Bin by bin."""
    found: list[float | None] = []
    for low, high in zip([0, *edges], [*edges, 10**9], strict=True):
        inside = [
            mine == wanted for mine, wanted in zip(hypotheses, references, strict=True) if low <= len(wanted) < high
        ]
        found.append(sum(inside) / len(inside) if inside else None)
    return found


def bottleneck(attention: list[float | None], fixed: list[float | None], cost: float) -> int | None:
    pairs = enumerate(zip(attention, fixed, strict=True))
    return next((place for place, (a, f) in pairs if a is not None and f is not None and a - f >= cost), None)


def looks(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    batch, source = sizes["batch"], sizes["source"]
    lengths = torch.randint(1, source + 1, (batch, 1))
    lengths[0] = max(1, source - 2)
    return {
        "query": torch.randn(batch, 2, dtype=torch.float64),
        "states": torch.randn(batch, source, sizes["state"], dtype=torch.float64),
        "real": torch.arange(source) < lengths,
    }


def translations(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Right ones, and every way to be wrong: another word, another order, too short, too long, moved."""
    references, hypotheses = [], []
    for _ in range(sizes["count"]):
        wanted = [int(one) for one in random.integers(4, 8, size=random.integers(2, sizes["longest"] + 1))]
        changed = [wanted[0] % 4 + 4, *wanted[1:]]
        ways = (wanted, wanted, wanted[::-1], wanted[:-1], [*wanted, 5], changed)
        references.append(wanted)
        hypotheses.append(list(ways[int(random.integers(len(ways)))]))
    first = 2 + int(random.integers(0, 2))
    return {"hypotheses": hypotheses, "references": references, "edges": [first, first + 2][: sizes["edges"]]}


def curves(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Quarters, so that a loss is sometimes exactly the cost; some bins are empty, some qualities are 0."""

    def one() -> list[float | None]:
        return [None if random.random() < 0.15 else int(random.integers(0, 5)) / 4 for _ in range(sizes["bins"])]

    return {"attention": one(), "fixed": one(), "cost": int(random.integers(1, 4)) / 4}


def measured(attempt: Attempt, check: Check, random: Generator) -> None:
    where = f"{two_models.__name__}:curves_of"
    with_attention = attempt.quality_by_length(*attempt.beside(where, True), two_models.EDGES)
    without = attempt.quality_by_length(*attempt.beside(where, False), two_models.EDGES)
    both = [
        f"{name:<17} {'  '.join(f'{share or 0:>4.0%}' for share in curve)}"
        for name, curve in (("with attention", with_attention), ("one fixed vector", without))
    ]
    place = attempt.bottleneck(with_attention, without, COST)
    check.that(
        place is not None and with_attention[-1] > without[-1] + COST,
        "Your model without attention copies long sequences as well as the one with attention: it must look somewhere.",
        *both,
    )


def no_look(attempt: Attempt, check: Check, random: Generator) -> None:
    given = looks({"batch": 2, "source": 4, "state": 3}, random)
    before = attempt.fixed_context(**given)[0]
    other = torch.where(given["real"][..., None], given["states"], 7.0)
    after = attempt.fixed_context(**{**given, "query": -given["query"], "states": other})[0]
    check.same(
        after, before, "Another query or other numbers at the padding changed the context.", labels="other/before"
    )


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    check.gradients(attempt.fixed_context, fixed_context, looks({"batch": 2, "source": 4, "state": 3}, random))


OUTPUTS = ("the context", "the weights")

EXERCISE = declare(
    __file__,
    reference={"fixed_context": fixed_context, "quality_by_length": quality_by_length, "bottleneck": bottleneck},
    families=(
        Family(
            "fixed_context: sentences with padding",
            looks,
            {"batch": (1, 3), "source": (1, 5), "state": (1, 3)},
            function="fixed_context",
            outputs=OUTPUTS,
            causes=OUTPUTS[::-1],
        ),
        Family(
            "quality_by_length",
            translations,
            {"count": (1, 12), "longest": (2, 6), "edges": (1, 2)},
            function="quality_by_length",
            count=24,
        ),
        Family("bottleneck", curves, {"bins": (1, 4)}, function="bottleneck", count=60),
    ),
    laws=(
        Law("no look", "a model without attention depends on neither query nor padding", no_look),
        Law("gradients", "the gradient reaches the last real state", gradients),
        Law("two models", "without attention long sequences are lost, with it they are not", measured),
    ),
    mistakes=(
        Mistake(
            "right_words",
            "That is the share of right words. Exactly right means the whole sequence: every word and the same length.",
            ({"quality_by_length": mistakes.right_words},),
        ),
        Mistake(
            "share_of_all",
            "You divide by the number of all sequences. Divide by the number of those in the bin.",
            ({"quality_by_length": mistakes.share_of_all},),
        ),
        Mistake(
            "beginnings",
            "zip() stops at the shorter list: a hypothesis that ends too early, or goes on, counts as right. Compare "
            "the lists themselves, or their lengths as well.",
            ({"quality_by_length": mistakes.beginnings},),
        ),
    ),
    alternatives=(
        {
            "fixed_context": alternatives.by_gather,
            "quality_by_length": alternatives.with_bisect,
            "bottleneck": alternatives.listed,
        },
        {"fixed_context": alternatives.by_next},
    ),
    praise="You have measured the picture that started it all: long sentences do not fit through one vector.",
)
