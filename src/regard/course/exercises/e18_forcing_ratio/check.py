"""Exercise 18: the right word or the decoder's own, coin by coin; the ratio is a straight line."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from numpy.random import Generator
from torch import Tensor

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e08_teacher_forcing.check import THROUGH_TIME
from regard.course.exercises.e08_teacher_forcing.toy_decoder import ToyDecoder
from regard.course.exercises.e18_forcing_ratio import alternatives, mistakes
from regard.course.slips import declare

BOS = 2


def mixed_forcing(
    step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], state: Tensor, targets: Tensor, coins: Tensor
) -> Tensor:
    """The definition, row by row."""
    given = [torch.full_like(targets[:, 0], BOS)]
    logits = []
    for column in range(targets.shape[1]):
        answer, state = step(given[-1], state)
        logits.append(answer)
        if column + 1 < targets.shape[1]:
            pairs = zip(coins[:, column + 1], targets[:, column], answer.argmax(dim=-1), strict=True)
            given.append(torch.stack([right if coin else own for coin, right, own in pairs]))
    return torch.stack(logits, dim=1)


def ratio(update: int, updates: int, first: float, last: float) -> float:
    return last if update >= updates else (first * (updates - update) + last * update) / updates


def decoding(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """A decoder that is seldom right, so that its own words differ from the targets."""
    torch.manual_seed(int(random.integers(2**31)))
    shape = (sizes["batch"], sizes["target"])
    decoder = ToyDecoder(9, 3).double()
    with torch.no_grad():
        decoder.readout.weight.mul_(5)
    return {
        "step": decoder,
        "state": torch.randn(sizes["batch"], 3, dtype=torch.float64),
        "targets": torch.randint(4, 9, shape),
        "coins": torch.rand(shape) < 0.5,
    }


def decode(attempt: Attempt, given: Arguments) -> dict[str, Any]:
    """What the steps were given is compared too, and first: it is easier to read than logits."""
    logits = attempt.mixed_forcing(**given)
    words = given["step"].given
    return {"what the steps were given": torch.stack(words, dim=1) if words else torch.empty(0), "the logits": logits}


def shown(given: Arguments) -> list[str]:
    rows = zip(given["targets"].tolist(), given["coins"].tolist(), strict=True)
    return [
        line
        for targets, coins in rows
        for line in (
            f"targets  {' '.join(f'{word:>5}' for word in targets)}",
            f"coins    {' '.join('heads' if coin else 'tails' for coin in coins)}",
        )
    ]


def moments(sizes: Mapping[str, int], random: Generator) -> Arguments:
    updates = 10 * sizes["updates"]
    first, last = (round(float(one), 2) for one in random.uniform(0.05, 1.0, size=2))
    return {"update": int(random.integers(0, 2 * updates)), "updates": updates, "first": first, "last": last}


def ratio_one_is_teacher_forcing(attempt: Attempt, check: Check, random: Generator) -> None:
    given = decoding({"batch": 3, "target": 4}, random)
    forced = attempt.mixed_forcing(**{**given, "coins": torch.ones(3, 4, dtype=torch.bool)})
    other = attempt.mixed_forcing(**{**given, "coins": torch.tensor([[False, True, True, True]] * 3)})
    check.same(other, forced, "The coin of step 0 changed something: step 0 always reads BOS.", labels="tails/heads")
    alone = {**given, "coins": torch.zeros(3, 4, dtype=torch.bool)}
    free = attempt.mixed_forcing(**alone)
    changed = attempt.mixed_forcing(**{**alone, "targets": given["targets"].flip(1)})
    check.same(changed, free, "With ratio 0 other targets changed the logits: something leaks.", labels="other/before")


def through_time(attempt: Attempt, check: Check, random: Generator) -> None:
    given = decoding({"batch": 2, "target": 4}, random)
    check.gradients(attempt.mixed_forcing, mixed_forcing, given, THROUGH_TIME)


STEPS = {"batch": (1, 3), "target": (1, 5)}

EXERCISE = declare(
    __file__,
    reference={"mixed_forcing": mixed_forcing, "ratio": ratio},
    families=(
        Family("steps with coins", decoding, STEPS, function="mixed_forcing", call=decode, describe=shown, count=16),
        Family("ratio: moments of a training", moments, {"updates": (1, 9)}, function="ratio", count=24),
    ),
    laws=(
        Law(
            "the ends",
            "ratio 1 is exercise 8, ratio 0 reads no target, and step 0 reads BOS",
            ratio_one_is_teacher_forcing,
        ),
        Law("through time", "the gradient reaches the first state from every step", through_time),
    ),
    mistakes=(
        Mistake(
            "one_coin_for_all_steps",
            "One coin decides for a whole sentence. Every step has its own: use column t of `coins` at step t.",
            ({"mixed_forcing": mistakes.one_coin_for_all_steps},),
        ),
    ),
    alternatives=(
        {"mixed_forcing": alternatives.by_rows, "ratio": alternatives.clamped},
        {"mixed_forcing": alternatives.with_arithmetic},
    ),
    praise="Your decoder can now practise on its own words, as much or as little as you like.",
)
