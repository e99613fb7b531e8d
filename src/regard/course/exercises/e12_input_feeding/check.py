"""Exercise 12: the last attentional vector changes the next step; every sentence starts afresh."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from regard.attention.attend import attend
from regard.attention.multiplicative.functional import dot_scores
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e12_input_feeding import alternatives
from regard.course.slips import declare, edited

SOLUTION = Path(__file__).with_name("solution.py").read_text(encoding="utf-8")
DETACHED = edited(
    SOLUTION, (("vectors.append(fed)", "vectors.append(fed)\n            fed = fed.detach()"),), ("decode",)
)


def decode(cell: nn.GRUCell, W_c: Tensor, sentences: list[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """The package's dot attention inside the loop; a test holds this to the package's own decoder."""
    decoded = []
    for words, states in sentences:
        state = fed = words.new_zeros(1, cell.hidden_size)
        everything = torch.ones(1, len(states), dtype=torch.bool)
        vectors = []
        for word in words:
            state = cell(torch.cat([word[None], fed], dim=-1), state)
            context, _ = attend(dot_scores(state, states), states, everything)
            fed = torch.tanh(torch.cat([context, state], dim=-1) @ W_c.T)
            vectors.append(fed)
        decoded.append(torch.cat(vectors))
    return decoded


def some_sentences(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    word, hidden = sizes["word"], sizes["hidden"]

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64)

    sentences: list[tuple[Tensor, Tensor]] = []
    for _ in range(sizes["sentences"]):
        target = int(torch.randint(1, sizes["target"] + 1, ())) if sentences else sizes["target"]
        sentences.append((normal(target, word), normal(int(torch.randint(1, sizes["source"] + 1, ())), hidden)))
    return {
        "cell": nn.GRUCell(word + hidden, hidden).double(),
        "W_c": normal(hidden, 2 * hidden),
        "sentences": sentences,
    }


def call(attempt: Attempt, given: Arguments) -> Any:
    """Names for the parts of a list."""
    answer = attempt.decode(**given)
    if not isinstance(answer, list | tuple):
        return answer
    return {f"the vectors of sentence {number}": vectors for number, vectors in enumerate(answer, 1)}


def shown(given: Arguments) -> list[str]:
    return [
        f"sentence {number}: words: {len(words)}, states: {list(states.shape)}"
        for number, (words, states) in enumerate(given["sentences"], 1)
    ]


LARGE = {"sentences": 3, "target": 4, "source": 4, "word": 2, "hidden": 3}


def feeding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = some_sentences({**LARGE, "sentences": 1}, random)
    before = attempt.decode(**given)[0]
    with torch.no_grad():
        given["cell"].weight_ih[:, 2:] *= -1  # the columns that read the fed vector
    after = attempt.decode(**given)[0]
    check.same(after[0], before[0], "The first step is fed something else than zeros.", labels="other columns/before")
    moved = (after[1:] - before[1:]).abs().amax(dim=1)
    check.that(bool((moved > 1e-9).all()), "A later step does not notice what it is fed: nothing is fed at all.")


def afresh(attempt: Attempt, check: Check, random: Generator) -> None:
    given = some_sentences(LARGE, random)
    together = attempt.decode(**given)
    for number, sentence in enumerate(given["sentences"]):
        alone = attempt.decode(given["cell"], given["W_c"], [sentence])[0]
        otherwise = f"Sentence {number + 1} comes out otherwise after others than alone: something is not reset."
        check.same(together[number], alone, otherwise, labels="after others/alone")


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    given = some_sentences({**LARGE, "sentences": 1}, random)
    words, states = given["sentences"][0]
    inputs = {"W_c": given["W_c"], "words": words, "states": states}
    check.gradients(
        lambda W_c, words, states: attempt.decode(given["cell"], W_c, [(words, states)]),
        lambda W_c, words, states: decode(given["cell"], W_c, [(words, states)]),
        inputs,
        "The values are right, but the gradient of `{name}` is not: the fed vector must stay in the graph, so that a "
        "step learns from what it causes later.",
    )


def cuts_the_graph(attempt: Attempt) -> bool:
    """Whether the gradient of W_c is that of the decoder which feeds a detached vector."""

    def slope(function: Any) -> Tensor:
        given = some_sentences({**LARGE, "sentences": 1}, np.random.default_rng(0))
        given["W_c"].requires_grad_()
        (gradient,) = torch.autograd.grad(function(**given)[0].square().sum(), given["W_c"])
        return gradient

    try:
        return torch.allclose(slope(attempt.decode), slope(DETACHED["decode"]))
    except Exception:  # an attempt that cannot even be run so has another mistake
        return False


SIZES = {"sentences": (1, 3), "target": (1, 3), "source": (1, 4), "word": (1, 2), "hidden": (1, 3)}

EXERCISE = declare(
    __file__,
    reference={"decode": decode},
    families=(
        Family("one sentence", some_sentences, {**SIZES, "sentences": (1, 1)}, call=call, describe=shown, count=6),
        Family(
            "words as wide as vectors",
            lambda sizes, random: some_sentences({**sizes, "word": sizes["hidden"]}, random),
            {name: size for name, size in SIZES.items() if name != "word"},
            call=call,
            describe=shown,
            count=4,
        ),
        Family("several sentences", some_sentences, SIZES, call=call, describe=shown, count=6),
    ),
    laws=(
        Law("the note is read", "the last attentional vector changes the next step, and only the next ones", feeding),
        Law("every sentence starts afresh", "a sentence comes out the same alone and after others", afresh),
        Law("gradients", "the gradient runs through the fed vectors back to the first step", gradients),
    ),
    mistakes=(
        Mistake(
            "graph_cut",
            "The fed vector is detached: the values are right, but a step no longer learns from what it causes in the "
            "next ones. Feed it as it is.",
            (DETACHED,),
            recognise=cuts_the_graph,
        ),
    ),
    alternatives=({"decode": alternatives.sentence_by_sentence}, {"decode": alternatives.split_matrix}),
    praise="Each look knows about the looks before: your decoder keeps its own list of what is covered.",
)
