"""Exercise 6: both directions, paired layer by layer, untouched by padding."""

from collections.abc import Mapping

import torch
from numpy.random import Generator
from torch import Tensor, nn

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e06_bidirectional import alternatives, mistakes
from regard.course.slips import declare


def encode(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """One sentence at a time, without any padding."""
    states = embedded.new_zeros(*embedded.shape[:2], 2 * gru.hidden_size)
    summaries = []
    for row, length in enumerate(lengths.tolist()):
        alone, hidden = gru(embedded[row : row + 1, :length])
        states[row, :length] = alone[0]
        summaries.append(hidden[:, 0].reshape(gru.num_layers, 2 * gru.hidden_size))
    return states, torch.stack(summaries, dim=1)


def batch(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    size, source, layers = sizes["batch"], sizes["source"], sizes["layer"]
    lengths = torch.randint(1, source + 1, (size,))
    lengths[-1] = source
    if size > 1:
        lengths[0] = torch.randint(1, source, ())
    gru = nn.GRU(sizes["width"], sizes["hidden"], num_layers=layers, batch_first=True, bidirectional=True)
    embedded = torch.randn(size, source, sizes["width"], dtype=torch.float64) * 2
    return {"gru": gru.double(), "embedded": embedded, "lengths": lengths}


def nan_padding(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = batch(sizes, random)
    real = torch.arange(sizes["source"]) < given["lengths"][:, None]
    return {**given, "embedded": torch.where(real[..., None], given["embedded"], torch.nan)}


LARGE = {"batch": 3, "source": 4, "layer": 2, "width": 2, "hidden": 3}


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = batch({**LARGE, "batch": 1}, random)
    alone = attempt.encode(**given)
    beside = torch.cat([given["embedded"], torch.full((1, 4, 2), 5.0, dtype=torch.float64)])
    padded = torch.cat([beside, torch.full((2, 3, 2), 9.0, dtype=torch.float64)], dim=1)
    states, summary = attempt.encode(given["gru"], padded, torch.tensor([4, 7]))
    check.same(states[:1, :4], alone[0], "Padding changed the states of a sentence.", labels="padded/alone")
    check.same(summary[:, :1], alone[1], "Padding changed the summary of a sentence.", labels="padded/alone")


def both_sides(attempt: Attempt, check: Check, random: Generator) -> None:
    given = batch({**LARGE, "batch": 1, "layer": 1}, random)
    before, _ = attempt.encode(**given)
    for word, seen_from, side in ((3, 0, "what comes after it"), (0, 3, "what comes before it")):
        changed = given["embedded"].clone()
        changed[0, word] += 1
        after, _ = attempt.encode(given["gru"], changed, given["lengths"])
        moved = bool((after[0, seen_from] - before[0, seen_from]).abs().max() > 1e-9)
        check.that(moved, f"The state of word {seen_from} knows nothing of {side}.")


def padded_further(attempt: Attempt, check: Check, random: Generator) -> None:
    given = batch({**LARGE, "batch": 2, "source": 3}, random)
    wider = torch.cat([given["embedded"], torch.full((2, 2, 2), 9.0, dtype=torch.float64)], dim=1)
    states, summary = attempt.encode(given["gru"], wider, given["lengths"])
    before = attempt.encode(**given)
    check.that(
        states.shape[1] == 5,
        "The states are shorter than `embedded` where the batch is padded beyond its longest sentence: "
        "pad_packed_sequence(…, total_length=embedded.shape[1]) fills them up.",
        f"lengths {given['lengths'].tolist()}, embedded has 5 positions, your states have {states.shape[1]}",
    )
    check.that(not bool(states[:, 3:].any()), "The states at the padding behind the longest sentence are not 0.")
    check.same(states[:, :3], before[0], "Further padding changed the states.", labels="padded/before")
    check.same(summary, before[1], "Further padding changed `summary`.", labels="padded/before")


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    given = batch({**LARGE, "layer": 1, "hidden": 2}, random)
    check.gradients(attempt.encode, encode, given)


SIZES = {"batch": (1, 3), "source": (2, 4), "layer": (1, 3), "width": (1, 2), "hidden": (1, 3)}
OUTPUTS = ("states", "summary")

EXERCISE = declare(
    __file__,
    reference={"encode": encode},
    families=(
        Family("one sentence, one layer", batch, {**SIZES, "batch": (1, 1), "layer": (1, 1)}, outputs=OUTPUTS, count=4),
        Family("sentences of several lengths", batch, SIZES, outputs=OUTPUTS),
        Family("nan at the padding", nan_padding, SIZES, outputs=OUTPUTS, kind="stability", count=4),
    ),
    laws=(
        Law("padding invariance", "a sentence comes out the same alone and beside a longer one", padding),
        Law("both sides", "every state knows what comes before its word and what comes after", both_sides),
        Law("gradients", "the gradient reaches the embeddings through both directions", gradients),
        Law("padded further", "a batch may be padded beyond its longest sentence", padded_further),
    ),
    mistakes=(
        Mistake(
            "one_direction",
            "Only one direction is in your answer. The summary is [layer, batch, 2 × hidden]: the last forward state "
            "and the last backward one side by side, and the states keep both halves too.",
            (
                {"encode": mistakes.forward_only},
                {"encode": mistakes.summary_forward_only},
                {"encode": mistakes.summary_backward_only},
                {"encode": mistakes.summary_forward_twice},
            ),
        ),
        Mistake(
            "layers_interleaved",
            "Layers and directions got mixed up. hidden holds layer 0 forward, layer 0 backward, layer 1 forward, … so "
            "the forward states are hidden[0::2] and the backward ones hidden[1::2], not the two halves, and a plain "
            "reshape mixes sentences.",
            ({"encode": mistakes.halves}, {"encode": mistakes.reshaped}),
        ),
        Mistake(
            "not_packed",
            "The backward network started in the padding and carried it into every word of the short sentences. Pack "
            "the batch first, as in exercise 5.",
            ({"encode": mistakes.not_packed}, {"encode": mistakes.not_packed_but_masked}),
        ),
    ),
    alternatives=({"encode": alternatives.with_a_view}, {"encode": alternatives.layer_by_layer}),
    praise="Every line of the notes now knows the whole sentence, from its own place.",
)
