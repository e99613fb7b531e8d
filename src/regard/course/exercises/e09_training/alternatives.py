"""Exercise 9: other correct ways. A test tries them on the watched updates; training with each would take long."""

# mypy: disable-error-code="no-untyped-call"

from collections.abc import Callable, Iterable

from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from regard.course.exercises.e09_training.solution import loss_of
from regard.data.batch import Batch
from regard.models import Seq2Seq


def forgets_at_the_end(
    model: Seq2Seq,
    optimizer: Optimizer,
    batches: Iterable[Batch],
    clip: float,
    validate: Callable[[Seq2Seq], object],
    every: int,
) -> list[float]:
    losses: list[float] = []
    model.zero_grad()
    for batch in batches:
        model.train()
        loss = loss_of(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        losses.append(float(loss))
        if len(losses) % every == 0:
            model.eval()
            validate(model)
    return losses


def clips_by_hand(
    model: Seq2Seq,
    optimizer: Optimizer,
    batches: Iterable[Batch],
    clip: float,
    validate: Callable[[Seq2Seq], object],
    every: int,
) -> list[float]:
    losses: list[float] = []
    for number, batch in enumerate(batches):
        model.train()
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        gradients = [one.grad for one in model.parameters() if one.grad is not None]
        length = sum(float((gradient**2).sum()) for gradient in gradients) ** 0.5
        for gradient in gradients:
            gradient *= min(1.0, clip / length)
        optimizer.step()
        losses.append(float(loss.detach()))
        if (number + 1) % every == 0:
            model.eval()
            validate(model)
    return losses
