"""Exercise 5: a batch equals its sentences one by one, in the order in which they came."""

from collections.abc import Mapping

import torch
from numpy.random import Generator
from torch import Tensor, nn

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e05_packing import alternatives, mistakes
from regard.course.slips import declare


def pad(sentences: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Plain lists, filled up."""
    longest = max(len(sentence) for sentence in sentences)
    rows = [sentence + [0] * (longest - len(sentence)) for sentence in sentences]
    return torch.tensor(rows), torch.tensor([len(sentence) for sentence in sentences])


def encode(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """One sentence at a time, without any padding."""
    states = embedded.new_zeros(*embedded.shape[:2], gru.hidden_size)
    last = []
    for row, length in enumerate(lengths.tolist()):
        alone, hidden = gru(embedded[row : row + 1, :length])
        states[row, :length] = alone[0]
        last.append(hidden[-1, 0])
    return states, torch.stack(last)


def some_sentences(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {
        "sentences": [
            [int(one) for one in random.integers(4, 30, size=random.integers(1, sizes["source"] + 1))]
            for _ in range(sizes["batch"])
        ]
    }


def ragged(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Unsorted: the longest sentence is never the first one of several; rubbish at the padding."""
    torch.manual_seed(int(random.integers(2**31)))
    batch, source = sizes["batch"], sizes["source"]
    lengths = torch.randint(1, source + 1, (batch,))
    lengths[-1] = source
    if batch > 1:
        lengths[0] = torch.randint(1, source, ())
    return {
        "gru": nn.GRU(sizes["width"], sizes["hidden"], batch_first=True).double(),
        "embedded": torch.randn(batch, source, sizes["width"], dtype=torch.float64) * 2,
        "lengths": lengths,
    }


def order(attempt: Attempt, check: Check, random: Generator) -> None:
    given = ragged({"batch": 4, "source": 4, "width": 2, "hidden": 3}, random)
    shuffle = torch.as_tensor(random.permutation(4))
    shuffled = attempt.encode(given["gru"], given["embedded"][shuffle], given["lengths"][shuffle])
    straight = attempt.encode(**given)
    for name, mine, before in zip(("states", "last"), shuffled, straight, strict=True):
        otherwise = f"Another order of the sentences changed `{name}` in more than its order."
        check.same(mine, before[shuffle], otherwise, labels="shuffled/straight")


def padded_further(attempt: Attempt, check: Check, random: Generator) -> None:
    given = ragged({"batch": 2, "source": 3, "width": 2, "hidden": 3}, random)
    wider = torch.cat([given["embedded"], torch.full((2, 2, 2), 9.0, dtype=torch.float64)], dim=1)
    states, last = attempt.encode(given["gru"], wider, given["lengths"])
    before = attempt.encode(**given)
    check.that(
        states.shape[1] == 5,
        "The states are shorter than `embedded` where the batch is padded beyond its longest sentence: "
        "pad_packed_sequence(…, total_length=embedded.shape[1]) fills them up.",
        f"lengths {given['lengths'].tolist()}, embedded has 5 positions, your states have {states.shape[1]}",
    )
    check.that(not bool(states[:, 3:].any()), "The states at the padding behind the longest sentence are not 0.")
    check.same(states[:, :3], before[0], "Further padding changed the states.", labels="padded/before")
    check.same(last, before[1], "Further padding changed `last`.", labels="padded/before")


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    given = ragged({"batch": 3, "source": 4, "width": 2, "hidden": 2}, random)
    check.gradients(attempt.encode, encode, given)


SIZES = {"batch": (1, 4), "source": (2, 5), "width": (1, 2), "hidden": (1, 3)}
OUTPUTS = ("states", "last")

EXERCISE = declare(
    __file__,
    reference={"pad": pad, "encode": encode},
    families=(
        Family(
            "pad: sentences of any length",
            some_sentences,
            {"batch": (1, 4), "source": (1, 5)},
            function="pad",
            outputs=("ids", "lengths"),
        ),
        Family("encode: unsorted sentences", ragged, SIZES, function="encode", outputs=OUTPUTS),
        Family("encode: one sentence", ragged, {**SIZES, "batch": (1, 1)}, function="encode", outputs=OUTPUTS, count=4),
    ),
    laws=(
        Law("order restored", "shuffling the sentences shuffles the answers and does nothing else", order),
        Law("gradients", "the gradient reaches the embeddings of the words and not the padding", gradients),
        Law("padded further", "a batch may be padded beyond its longest sentence", padded_further),
    ),
    mistakes=(
        Mistake(
            "not_unsorted",
            "You sorted the sentences by length and did not put the answers back: row 0 of your answer belongs to the "
            "longest sentence. Undo the order with order.argsort() (for the states and for the last states), or let "
            "enforce_sorted=False do both.",
            (
                {"encode": mistakes.not_unsorted},
                {"encode": mistakes.last_not_unsorted},
                {"encode": mistakes.sorted_twice},
            ),
        ),
        Mistake(
            "state_at_padding",
            "You read the state at the padding: the network went on through it, and for a short sentence the last "
            "column is not the state after its last word. Pack the batch, and take the last states the gru returns.",
            (
                {"encode": mistakes.not_packed},
                {"encode": mistakes.not_packed_but_masked},
                {"encode": mistakes.last_column},
            ),
        ),
    ),
    alternatives=(
        {"pad": alternatives.with_pad_sequence, "encode": alternatives.sorted_and_restored},
        {"encode": alternatives.gathered},
    ),
    praise="A batch is now only a way to be quick: every sentence comes out as if it had gone alone.",
)
