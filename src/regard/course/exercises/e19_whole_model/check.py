"""Exercise 19: each part equals the definition, and the whole learns a small language."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.random import Generator
from torch import Tensor

from regard.attention.additive.functional import additive_attention
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e19_whole_model import alternatives, mistakes, model_parts
from regard.course.exercises.e19_whole_model.model_parts import EOS, Parts
from regard.course.slips import declare

ENOUGH = 0.9


def encode(parts: Parts, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sentence by sentence, without padding."""
    return alternatives.encode_one_by_one(parts, source, lengths)


def step(parts: Parts, words: Tensor, state: Tensor, states: Tensor, real: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """With the package's additive attention."""
    query, keys = parts.W_s(state)[:, None], parts.W_h(states)
    context, weights = additive_attention(query, keys, parts.v.weight[0], states, real[:, None])
    assert weights is not None
    after: Tensor = parts.cell(torch.cat([parts.target_words(words), context[:, 0]], dim=-1), state)
    return parts.readout(torch.cat([after, context[:, 0]], dim=-1)), after, weights[:, 0]


def translate(parts: Parts, source: Tensor, lengths: Tensor, longest: int) -> list[list[int]]:
    """Sentence by sentence."""
    return alternatives.translate_one_by_one(parts, source, lengths, longest)


def model(sizes: Mapping[str, int], random: Generator) -> Parts:
    torch.manual_seed(int(random.integers(2**31)))
    made = Parts(9, 8, sizes["hidden"]).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(2)
    return made


def sentences(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """The first sentence is never the longest of several; whatever stands at the padding is a word."""
    parts = model(sizes, random)
    batch, source = sizes["batch"], sizes["source"]
    lengths = torch.randint(1, source + 1, (batch,))
    lengths[-1], lengths[0] = source, max(1, source - 1) if batch > 1 else source
    ids = torch.randint(4, 9, (batch, source))
    return {"parts": parts, "source": torch.where(torch.arange(source) < lengths[:, None], ids, 0), "lengths": lengths}


def one_step(sizes: Mapping[str, int], random: Generator) -> Arguments:
    parts = model(sizes, random)
    batch, source, hidden = sizes["batch"], sizes["source"], sizes["hidden"]
    lengths = torch.randint(1, source + 1, (batch, 1))
    lengths[0] = max(1, source - 1)
    return {
        "parts": parts,
        "words": torch.randint(0, 8, (batch,)),
        "state": torch.randn(batch, hidden, dtype=torch.float64),
        "states": torch.randn(batch, source, 2 * hidden, dtype=torch.float64),
        "real": torch.arange(source) < lengths,
    }


def very_low(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with."""
    given = one_step(sizes, random)
    with torch.no_grad():
        given["parts"].v.weight.copy_(-1e31 * given["parts"].v.weight.abs())
        for layer in (given["parts"].W_s, given["parts"].W_h):
            layer.weight.abs_()
    states = given["states"].abs() + 5.0 * ~given["real"][..., None]
    return {**given, "state": given["state"].abs(), "states": states}


def to_translate(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """A lively decoder: sentences end at any step, would go on after EOS, and feel every weight."""
    given = sentences(sizes, random)
    with torch.no_grad():
        for part in (given["parts"].cell, given["parts"].target_words, given["parts"].encoder):
            for parameter in part.parameters():
                parameter.mul_(4)
        given["parts"].readout.weight.mul_(4)
        given["parts"].readout.bias[EOS] += 1.0
    return {**given, "longest": sizes["longest"]}


def shown(given: Arguments) -> list[str]:
    lines = [f"{name:<8} {given[name].tolist()}" for name in ("source", "lengths", "words", "real") if name in given]
    return [*lines, *([f"longest  {given['longest']}"] if "longest" in given else [])]


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = sentences({"batch": 1, "source": 3, "hidden": 3}, random)
    alone = attempt.encode(**given)
    longer = torch.cat([given["source"], torch.zeros(1, 2, dtype=torch.long)], dim=1)
    padded = attempt.encode(given["parts"], longer, given["lengths"])
    check.same(padded[0][:, :3], alone[0], "Padding changed the states of a sentence.", labels="padded/alone")
    check.same(padded[1], alone[1], "Padding changed the first state.", labels="padded/alone")
    behind = torch.zeros_like(longer[:, 3:, None] * alone[0][:, :1])
    otherwise = (
        "The states must be as long as the source, zeros at the padding: pad_packed_sequence(…, total_length=…)."
    )
    check.same(padded[0][:, 3:], behind, otherwise)


def gradients(attempt: Attempt, check: Check, random: Generator) -> None:
    check.gradients(attempt.step, step, one_step({"batch": 2, "source": 3, "hidden": 2}, random))


def learns(attempt: Attempt, check: Check, random: Generator) -> None:
    exam = model_parts.numbers_for("exam")
    written = attempt.beside(f"{model_parts.__name__}:trained_and_translated", exam)
    digits = ["".join(model_parts.TARGET[word] for word in row if word > EOS) for row in written]
    right = sum(mine == str(number) for mine, number in zip(digits, exam, strict=True)) / len(exam)
    wrong: list[Any] = [(number, mine) for mine, number in zip(digits, exam, strict=True) if mine != str(number)]
    check.that(
        right >= ENOUGH,
        f"After the training {right:.0%} of unseen numbers are translated right; wanted at least {ENOUGH:.0%}.",
        *(f"{' '.join(model_parts.in_words(number))} → {mine or '(nothing)'}" for number, mine in wrong[:4]),
    )


SIZES = {"batch": (1, 3), "source": (1, 4), "hidden": (1, 3)}
STATES, STEP = ("the states", "the first state"), ("the logits", "the new state", "the weights")

EXERCISE = declare(
    __file__,
    reference={"encode": encode, "step": step, "translate": translate},
    families=(
        Family("encode", sentences, SIZES, function="encode", outputs=STATES, describe=shown, count=8),
        Family("step", one_step, SIZES, function="step", outputs=STEP, causes=STEP[::-1], describe=shown, count=10),
        Family(
            "step: very negative scores",
            very_low,
            SIZES,
            function="step",
            outputs=STEP,
            causes=STEP[::-1],
            kind="stability",
            describe=shown,
            count=8,
        ),
        Family(
            "translate",
            to_translate,
            {"batch": (1, 3), "source": (1, 5), "hidden": (3, 5), "longest": (1, 6)},
            function="translate",
            describe=shown,
            count=24,
        ),
    ),
    laws=(
        Law("padding", "more padding changes nothing", padding),
        Law("gradients", "the gradient reaches the states", gradients),
        Law("number words", "trained on four fifths of the numbers below 1,000, it translates the others", learns),
    ),
    mistakes=(
        Mistake(
            "not_packed",
            "The encoder reads the padding: the backward direction begins there. Pack the batch "
            "(pack_padded_sequence, enforce_sorted=False) and unpack the states.",
            ({"encode": mistakes.not_packed}, {"encode": mistakes.not_packed_but_masked}),
        ),
    ),
    alternatives=(
        {
            "encode": alternatives.encode_one_by_one,
            "step": alternatives.step_with_products,
            "translate": alternatives.translate_one_by_one,
        },
    ),
    praise="Encoder, attention, decoder, search: it is all yours, and it translates.",
)
