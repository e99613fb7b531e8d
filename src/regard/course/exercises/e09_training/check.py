"""Exercise 9: a few updates watched closely, then two models trained for real."""

from collections.abc import Mapping
from typing import Any

from numpy.random import Generator
from torch.nn.utils import vector_to_parameters

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e09_training import mistakes, observer, solution
from regard.course.exercises.e09_training.material import STEPS, examine, small_model
from regard.course.slips import declare
from regard.data.synthetic import Task

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


def watch(attempt: Attempt, given: Arguments) -> Any:
    """Let the loop run on a tiny model and note modes, losses and what became of the weights."""
    return attempt.beside(f"{observer.__name__}:watch", given)


def never_steps(attempt: Attempt) -> bool:
    steps, _ = attempt.beside(f"{observer.__name__}:counted")
    return bool(steps == 0)


def never_goes_back(attempt: Attempt) -> bool:
    steps, reached = attempt.beside(f"{observer.__name__}:counted")
    return bool(steps > 0 and reached == 0)


def shown(given: Arguments) -> list[str]:
    updates = f"{given['updates']} updates, validation after every {given['every']}, clip {given['clip']}"
    return [updates, f"the model comes in {given['comes_in']}"]


def learns(task: Task, line: str) -> Any:
    """The law for one task: both the words and the places."""

    def trial(attempt: Attempt, check: Check, random: Generator) -> None:
        losses, weights, seconds = attempt.beside(f"{observer.__name__}:train_on", task)
        model = small_model()
        vector_to_parameters(weights, model.parameters())
        exam = examine(model, task)
        check.that(
            exam.exact >= ENOUGH,
            f"{task.capitalize()}: after {STEPS} updates {exam.exact:.0%} of unseen sequences come out exactly "
            f"right; wanted at least {ENOUGH:.0%}.",
            f"loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last",
        )
        check.that(
            exam.on_the_line >= LINE,
            f"The words are right, but only {exam.on_the_line:.2f} of the weight lies on the {line}.",
        )
        check.that(seconds < SECONDS, f"The training took {seconds:.0f} s of computing; wanted less than {SECONDS:g}.")

    return trial


EXERCISE = declare(
    __file__,
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
    ),
    praise="Your loop taught two models where to look, and nobody ever told them: the loss on the words was enough.",
)
