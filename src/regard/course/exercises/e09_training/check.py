"""Exercise 9: a few updates watched closely, then two models trained for real."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from numpy.random import Generator
from torch import Tensor
from torch.nn.utils import parameters_to_vector
from torch.optim import SGD

from regard.course.assertions import Broken, Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Exercise, Family, Law, Mistake
from regard.course.exercises.e09_training import mistakes, solution
from regard.course.exercises.e09_training.material import (
    examine,
    small_model,
    small_optimizer,
    training_batches,
)
from regard.course.slips import slips
from regard.data.synthetic import Task
from regard.models import Seq2Seq

ENOUGH = 0.95
LINE = 0.6
"""Mean weight on the (anti-)diagonal; trained models reach more than 0.9, uniform weights 0.2."""
SECONDS = 60.0


def a_few_updates(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Small numbers only: the model is built from the seed when the loop is watched."""
    return {
        "seed": int(random.integers(2**31)),
        "updates": sizes["updates"],
        "every": sizes["every"],
        "clip": 0.05,
        "comes_in": "training mode" if sizes["mode"] else "evaluation mode",
    }


def watch(attempt: Attempt, given: Arguments) -> dict[str, Any]:
    """Let the loop run on a tiny model and note modes, losses and what became of the weights."""
    torch.manual_seed(given["seed"])
    model = small_model(units=4).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8)  # so that the gradients are longer than any usual clip
    model.train(given["comes_in"] == "training mode")
    updates: list[str] = []
    looks: list[str] = []
    model.register_forward_pre_hook(lambda *_: updates.append(_mode(model)))
    batches = training_batches("reverse", steps=given["updates"], rows=2)
    optimizer = SGD(model.parameters(), lr=4.0)

    def validate(seen: Seq2Seq) -> None:
        looks.append(f"{_mode(seen)}, after {len(updates)}")

    losses = attempt.train(model, optimizer, iter(batches), given["clip"], validate, given["every"])
    if not isinstance(losses, list | tuple):
        raise Broken(f"train() must return the list of all losses; it returned a {type(losses).__name__}.")
    return {
        "the mode at each update": updates,
        "the mode at each validation, after how many updates": looks,
        "what each loss is": ["tensor" if isinstance(loss, Tensor) else "number" for loss in losses],
        "the losses": torch.tensor([float(loss) for loss in losses], dtype=torch.float64),
        "the weights at the end": parameters_to_vector(model.parameters()),
    }


class CountingSGD(SGD):
    """Counts its steps, and how often backward() reached its parameters."""

    steps = 0
    reached = 0

    def step(self, closure: Any = None) -> Any:
        self.steps += 1
        return super().step(closure)

    def note(self, parameter: Tensor) -> None:
        self.reached += 1


def counted(attempt: Attempt) -> CountingSGD | None:
    """The optimizer after a few updates; None if the loop raised."""
    model = small_model(units=4)
    optimizer = CountingSGD(model.parameters(), lr=0.1)
    parameters: list[Any] = list(model.parameters())
    for parameter in parameters:
        parameter.register_hook(optimizer.note)
    try:
        attempt.train(model, optimizer, iter(training_batches("reverse", steps=3, rows=2)), 1.0, lambda _: None, 2)
    except Exception:
        return None
    return optimizer


def never_steps(attempt: Attempt) -> bool:
    optimizer = counted(attempt)
    return optimizer is not None and optimizer.steps == 0


def never_goes_back(attempt: Attempt) -> bool:
    optimizer = counted(attempt)
    return optimizer is not None and optimizer.steps > 0 and optimizer.reached == 0


def _mode(model: Seq2Seq) -> str:
    return "train" if model.training else "eval"


def shown(given: Arguments) -> list[str]:
    updates = f"{given['updates']} updates, validation after every {given['every']}, clip {given['clip']}"
    return [updates, f"the model comes in {given['comes_in']}"]


def learns(task: Task, line: str) -> Any:
    """The law for one task: both the words and the places."""

    def trial(attempt: Attempt, check: Check, random: Generator) -> None:
        torch.manual_seed(1)
        model = small_model()
        batches = training_batches(task)
        began = time.process_time()
        losses = attempt.train(model, small_optimizer(model), batches, 1.0, lambda seen: None, 100)
        seconds = time.process_time() - began
        exam = examine(model, task)
        check.that(
            exam.exact >= ENOUGH,
            f"{task.capitalize()}: after {len(batches)} updates {exam.exact:.0%} of unseen sequences come out exactly "
            f"right; wanted at least {ENOUGH:.0%}.",
            f"loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last",
        )
        check.that(
            exam.on_the_line >= LINE,
            f"The words are right, but only {exam.on_the_line:.2f} of the weight lies on the {line}.",
        )
        check.that(seconds < SECONDS, f"The training took {seconds:.0f} s of computing; wanted less than {SECONDS:g}.")

    return trial


FUNCTIONS = ("train",)
SOLUTION = Path(__file__).with_name("solution.py").read_text(encoding="utf-8")

EXERCISE = Exercise(
    functions=FUNCTIONS,
    reference={"train": solution.train},
    families=(
        Family(
            "a few updates, watched",
            a_few_updates,
            {"updates": (3, 4), "every": (1, 2), "mode": (0, 1)},
            call=watch,
            describe=shown,
            count=3,
            tolerance=1e-4,
            shrink=False,
        ),
    ),
    laws=(
        Law(
            "copy is learned",
            "300 updates teach a small model to copy; its weights become the diagonal",
            learns("copy", "diagonal"),
        ),
        Law(
            "reverse is learned",
            "300 updates teach a small model to reverse; its weights become the anti-diagonal",
            learns("reverse", "anti-diagonal"),
        ),
    ),
    mistakes=(
        Mistake(
            "no_step",
            "optimizer.step() is never called: the gradients are there, but the weights never change.",
            ({"train": mistakes.no_step},),
            recognise=never_steps,
        ),
        Mistake(
            "no_backward",
            "loss.backward() is missing: there are no gradients for step() to use, so the weights never change.",
            ({"train": mistakes.no_backward},),
            recognise=never_goes_back,
        ),
        Mistake(
            "no_zero_grad",
            "The old gradients are never forgotten: backward() adds to what is there, so every update also repeats all "
            "earlier ones. Call optimizer.zero_grad() before the gradients of each batch.",
            ({"train": mistakes.no_zero_grad},),
        ),
        Mistake(
            "zeroed_too_late",
            "Every step is a step of nothing: the gradients are forgotten after they are computed and before they are "
            "used. The order is zero_grad(), backward(), clip, step().",
            ({"train": mistakes.zeroed_too_late},),
        ),
        Mistake(
            "no_clipping",
            "The gradients are used at their full length. Call clip_grad_norm_(model.parameters(), clip) between "
            "backward() and step(); before or after that pair it does nothing.",
            ({"train": mistakes.no_clipping},),
        ),
        Mistake(
            "clipped_values",
            "You clip each number by itself, which bends the gradient into another direction. clip_grad_norm_ shortens "
            "all of them together.",
            ({"train": mistakes.clipped_values},),
        ),
        Mistake(
            "left_in_eval",
            "The model learns in evaluation mode: dropout and its kind are switched off. model.train() belongs before "
            "the first update and after every validation; the mode stays until you change it.",
            (
                {"train": mistakes.left_in_eval},
                {"train": mistakes.never_in_train},
                {"train": mistakes.late_in_train},
            ),
        ),
        Mistake(
            "validated_in_train",
            "You validate in training mode: with dropout on, the model would be judged by what it says half asleep. "
            "Call model.eval() before validate(model), and model.train() after it.",
            ({"train": mistakes.validated_in_train},),
        ),
        Mistake(
            "validated_off_by_one",
            "You validate after another number of updates than asked for: count them from 1, "
            "enumerate(batches, 1), so that the first look comes after `every` of them.",
            ({"train": mistakes.counted_from_zero},),
        ),
        Mistake(
            "losses_kept",
            "You keep the loss itself, and with it everything that it was computed from, for every update. "
            "loss.item() is a plain number.",
            ({"train": mistakes.losses_kept},),
        ),
        *slips(__file__, FUNCTIONS),
    ),
    solution=SOLUTION,
    praise="Your loop taught two models where to look, and nobody ever told them: the loss on the words was enough.",
)
