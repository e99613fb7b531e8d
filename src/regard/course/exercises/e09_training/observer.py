"""Exercise 9: a training loop at work, observed. Runs where the learner's code runs."""

import time
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector
from torch.optim import SGD

from regard.course.assertions import Broken
from regard.course.attempt import Attempt
from regard.course.exercises.e09_training.material import small_model, small_optimizer, training_batches
from regard.data.synthetic import Task
from regard.models import Seq2Seq


def watch(attempt: Attempt, given: dict[str, Any]) -> dict[str, Any]:
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
        "the weights at the end": parameters_to_vector(model.parameters()).detach(),
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


def counted(attempt: Attempt) -> tuple[int, int]:
    """How often a few updates called step(), and how often backward() reached a weight; (-1, -1) if they raised."""
    model = small_model(units=4)
    optimizer = CountingSGD(model.parameters(), lr=0.1)
    parameters: list[Any] = list(model.parameters())
    for parameter in parameters:
        parameter.register_hook(optimizer.note)
    try:
        attempt.train(model, optimizer, iter(training_batches("reverse", steps=3, rows=2)), 1.0, lambda _: None, 2)
    except Exception:
        return -1, -1
    return optimizer.steps, optimizer.reached


def train_on(attempt: Attempt, task: Task) -> tuple[list[float], Tensor, float]:
    """Losses, weights and seconds of computing of a real training."""
    torch.manual_seed(1)
    model = small_model()
    began = time.process_time()
    losses = attempt.train(model, small_optimizer(model), training_batches(task), 1.0, lambda seen: None, 100)
    seconds = time.process_time() - began
    return [float(loss) for loss in losses], parameters_to_vector(model.parameters()).detach(), seconds


def _mode(model: Seq2Seq) -> str:
    return "train" if model.training else "eval"
