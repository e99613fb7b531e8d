"""Exercise 8: what each step is given, that no answer leaks, that padding does not count."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from numpy.random import Generator
from torch import Tensor

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e08_teacher_forcing import alternatives, mistakes
from regard.course.exercises.e08_teacher_forcing.toy_decoder import ToyDecoder
from regard.course.slips import declare
from regard.text.special import BOS, EOS, PAD


def teacher_forcing(step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], state: Tensor, targets: Tensor) -> Tensor:
    """The definition: step t reads column t - 1."""
    logits = []
    for column in range(targets.shape[1]):
        words = targets[:, column - 1] if column else torch.full_like(targets[:, 0], BOS)
        answer, state = step(words, state)
        logits.append(answer)
    return torch.stack(logits, dim=1)


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Word by word."""
    each = []
    for row, column in torch.nonzero(targets != PAD).tolist():
        place = logits[row, column]
        each.append(torch.logsumexp(place, dim=-1) - place[targets[row, column]])
    return torch.stack(each).mean()


def sentences(batch: int, target: int, vocabulary: int) -> Tensor:
    """Rows of words that end with EOS and padding; the first row is the shortest."""
    targets = torch.randint(4, vocabulary, (batch, target))
    lengths = torch.randint(1, target + 1, (batch,))
    lengths[-1], lengths[0] = target, max(1, target - 1)
    for row, length in enumerate(lengths.tolist()):
        targets[row, length - 1] = EOS
        targets[row, length:] = PAD
    return targets


def decoding(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    targets = sentences(sizes["batch"], sizes["target"], 9)
    state = torch.randn(sizes["batch"], 3, dtype=torch.float64)
    return {"step": ToyDecoder(9, 3).double(), "state": state, "targets": targets}


def decode(attempt: Attempt, given: Arguments) -> dict[str, Any]:
    """What the steps were given is compared too, and first: it is easier to read than logits."""
    logits = attempt.teacher_forcing(**given)
    words = given["step"].given
    return {"what the steps were given": torch.stack(words, dim=1) if words else torch.empty(0), "the logits": logits}


def scoring(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    vocabulary = 3 + sizes["words"]
    logits = torch.randn(sizes["batch"], sizes["target"], vocabulary, dtype=torch.float64)
    return {"logits": logits, "targets": sentences(sizes["batch"], sizes["target"], vocabulary)}


def certain(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = scoring(sizes, random)
    return {**given, "logits": given["logits"] * 1000}


def no_leak(attempt: Attempt, check: Check, random: Generator) -> None:
    given = decoding({"batch": 2, "target": 4}, random)
    before = attempt.teacher_forcing(**given)
    for column in range(4):
        other = given["targets"].clone()
        other[:, column] = (other[:, column] + 1) % 9
        after = attempt.teacher_forcing(given["step"], given["state"], other)
        otherwise = (
            f"The word asked for at step {column} changes the logits of that step or an earlier one: the answer leaks."
        )
        check.same(after[:, : column + 1], before[:, : column + 1], otherwise, labels="other word/before")


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = scoring({"batch": 2, "target": 3, "words": 5}, random)
    logits = torch.cat([given["logits"], torch.full((2, 4, 8), 3.0, dtype=torch.float64)], dim=1)
    longer = torch.cat([given["targets"], torch.full((2, 4), PAD)], dim=1)
    check.same(
        attempt.loss(logits, longer), attempt.loss(**given), "More padding changed the loss.", labels="longer/before"
    )


THROUGH_TIME = (
    "The values are right, but the gradient of `{name}` is not: it must flow back through time, from every step to the "
    "first state. Something cuts it (.detach(), .data)."
)


def through_time(attempt: Attempt, check: Check, random: Generator) -> None:
    given = decoding({"batch": 2, "target": 4}, random)
    check.gradients(attempt.teacher_forcing, teacher_forcing, given, THROUGH_TIME)


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    given = scoring({"batch": 2, "target": 3, "words": 4}, random)
    check.gradients(attempt.loss, loss, given)


def padded_on(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """A batch padded further, as a loader with a fixed length makes it: whole columns of PAD at the end."""
    given = decoding(sizes, random)
    padding = torch.full((sizes["batch"], sizes["padding"]), PAD)
    return {**given, "targets": torch.cat([given["targets"], padding], dim=1)}


STEPS = {"batch": (1, 3), "target": (1, 4)}
PLACES = {"batch": (1, 3), "target": (1, 4), "words": (2, 5)}
OUTPUTS = ("the loss",)

EXERCISE = declare(
    __file__,
    reference={"teacher_forcing": teacher_forcing, "loss": loss},
    families=(
        Family(
            "teacher_forcing: given and asked for", decoding, STEPS, function="teacher_forcing", call=decode, pure=False
        ),
        Family(
            "teacher_forcing: a step for each column, also of padding",
            padded_on,
            {**STEPS, "padding": (1, 3)},
            function="teacher_forcing",
            call=decode,
            pure=False,
            count=4,
        ),
        Family("loss: sentences of several lengths", scoring, PLACES, function="loss", outputs=OUTPUTS),
        Family("loss: logits in the thousands", certain, PLACES, function="loss", outputs=OUTPUTS, kind="stability"),
    ),
    laws=(
        Law("no leak", "step t sees nothing of word t or later ones", no_leak),
        Law("padding does not count", "a batch padded further has the same loss", padding),
        Law("through time", "every step's gradient flows back to the first state", through_time),
        Law("gradients", "the gradient of the loss is that of the equation", gradients),
    ),
    mistakes=(
        Mistake(
            "unshifted",
            "A step is given the very word it is asked for: the decoder learns to copy, the loss falls to nothing, and "
            "it cannot translate. Give BOS at step 0 and column t − 1 at step t.",
            ({"teacher_forcing": mistakes.unshifted}, {"teacher_forcing": mistakes.unshifted_after_begin}),
        ),
        Mistake(
            "own_words",
            "You give the decoder its own words back. That is how it translates later; teacher forcing gives it the "
            "right word of the step before, from `targets`.",
            ({"teacher_forcing": mistakes.own_words},),
        ),
        Mistake(
            "state_forgotten",
            "Every step starts from the first state: keep the state that `step` returns and hand it to the next step.",
            ({"teacher_forcing": mistakes.state_forgotten},),
        ),
        Mistake(
            "padding_counted",
            "The padding is counted. Leave out the places whose target is PAD, in the sum and in the number that you "
            "divide by.",
            ({"loss": mistakes.padding_counted}, {"loss": mistakes.padding_in_the_count}),
        ),
        Mistake(
            "not_averaged",
            "This is the sum over the real words, wanted is their mean: divide by how many there are.",
            ({"loss": mistakes.not_averaged},),
        ),
        Mistake(
            "log_of_softmax",
            "You take the logarithm of a softmax that has already become 0: log(0) is minus infinity. log_softmax (or "
            "cross_entropy) does both at once and stays finite.",
            ({"loss": mistakes.log_of_softmax},),
        ),
    ),
    alternatives=(
        {"teacher_forcing": alternatives.shifted_first, "loss": alternatives.built_in},
        {"loss": alternatives.masked_mean},
    ),
    praise="Given one word late, asked for the next, padding left out: that is the whole of how a translator learns.",
)
