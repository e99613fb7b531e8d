"""Exercise 9: wrong training loops that people write."""

# mypy: disable-error-code="no-untyped-call"

from collections.abc import Callable, Iterable

from torch import Tensor
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import Optimizer

from regard.course.exercises.e09_training.solution import loss_of
from regard.data.batch import Batch
from regard.models import Seq2Seq

Validate = Callable[[Seq2Seq], object]


def no_zero_grad(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        loss = loss_of(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
        _look(model, validate, step % every == 0)
    return losses


def zeroed_too_late(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.zero_grad()
        clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
        _look(model, validate, step % every == 0)
    return losses


def no_clipping(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        losses.append(_update(model, optimizer, batch))
        _look(model, validate, step % every == 0)
    return losses


def clipped_values(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        losses.append(_update(model, optimizer, batch, lambda: clip_grad_value_(model.parameters(), clip)))
        _look(model, validate, step % every == 0)
    return losses


def left_in_eval(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        losses.append(_update(model, optimizer, batch, lambda: clip_grad_norm_(model.parameters(), clip)))
        if step % every == 0:
            model.eval()
            validate(model)
    return losses


def never_in_train(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    for step, batch in enumerate(batches, 1):
        losses.append(_update(model, optimizer, batch, lambda: clip_grad_norm_(model.parameters(), clip)))
        if step % every == 0:
            model.eval()
            validate(model)
    return losses


def late_in_train(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    """Goes back after validating, but trusts the mode in which the model comes."""
    losses = []
    for step, batch in enumerate(batches, 1):
        losses.append(_update(model, optimizer, batch, lambda: clip_grad_norm_(model.parameters(), clip)))
        _look(model, validate, step % every == 0)
    return losses


def validated_in_train(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        losses.append(_update(model, optimizer, batch, lambda: clip_grad_norm_(model.parameters(), clip)))
        if step % every == 0:
            validate(model)
    return losses


def counted_from_zero(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches):
        losses.append(_update(model, optimizer, batch, lambda: clip_grad_norm_(model.parameters(), clip)))
        _look(model, validate, step % every == 0)
    return losses


def losses_kept(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[Tensor]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss)
        _look(model, validate, step % every == 0)
    return losses


def _update(model: Seq2Seq, optimizer: Optimizer, batch: Batch, clip: Callable[[], object] = lambda: None) -> float:
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    loss.backward()
    clip()
    optimizer.step()
    return float(loss.item())


def _look(model: Seq2Seq, validate: Validate, now: bool) -> None:
    if now:
        model.eval()
        validate(model)
        model.train()


def no_step(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), clip)
        losses.append(loss.item())
        _look(model, validate, step % every == 0)
    return losses


def no_backward(
    model: Seq2Seq, optimizer: Optimizer, batches: Iterable[Batch], clip: float, validate: Validate, every: int
) -> list[float]:
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
        _look(model, validate, step % every == 0)
    return losses
