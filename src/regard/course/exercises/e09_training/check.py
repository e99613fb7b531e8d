"""Exercise 9: a few updates watched closely, then two models trained for real."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.random import Generator
from torch.nn.utils import vector_to_parameters

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e09_training import observer, solution
from regard.course.exercises.e09_training.material import STEPS, examine, small_model
from regard.course.slips import declare, edited
from regard.data.synthetic import Task

SOLUTION = Path(__file__).with_name("solution.py").read_text(encoding="utf-8")
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
            (edited(SOLUTION, (("        optimizer.step()\n", ""),), ("train",)),),
            recognise=never_steps,
        ),
        Mistake(
            "no_backward",
            "loss.backward() is missing: there are no gradients for step() to use, so the weights never change.",
            (edited(SOLUTION, (("        loss.backward()\n", ""),), ("train",)),),
            recognise=never_goes_back,
        ),
    ),
    praise="Your loop taught two models where to look, without ever being told: the loss on the words was enough.",
)
