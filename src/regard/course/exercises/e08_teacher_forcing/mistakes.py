"""Exercise 8: wrong teachers and wrong losses that people write."""

# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

PAD, BOS = 0, 2
Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def _feed(step: Step, state: Tensor, columns: list[Tensor]) -> Tensor:
    steps = []
    for words in columns:
        logits, state = step(words, state)
        steps.append(logits)
    return torch.stack(steps, dim=1)


def unshifted(step: Step, state: Tensor, targets: Tensor) -> Tensor:
    return _feed(step, state, list(targets.unbind(1)))


def unshifted_after_begin(step: Step, state: Tensor, targets: Tensor) -> Tensor:
    """BOS first, but then the word that is asked for, so that the first target is never given."""
    return _feed(step, state, [torch.full_like(targets[:, 0], BOS), *targets.unbind(1)[1:]])


def own_words(step: Step, state: Tensor, targets: Tensor) -> Tensor:
    words, steps = torch.full_like(targets[:, 0], BOS), []
    for _ in range(targets.shape[1]):
        logits, state = step(words, state)
        steps.append(logits)
        words = logits.argmax(dim=-1)
    return torch.stack(steps, dim=1)


def state_forgotten(step: Step, state: Tensor, targets: Tensor) -> Tensor:
    columns = [torch.full_like(targets[:, 0], BOS), *targets.unbind(1)[:-1]]
    return torch.stack([step(words, state)[0] for words in columns], dim=1)


def padding_counted(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.flatten(0, 1), targets.flatten())


def padding_in_the_count(logits: Tensor, targets: Tensor) -> Tensor:
    each = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none", ignore_index=PAD)
    return each.mean()


def not_averaged(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum", ignore_index=PAD)


def log_of_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    right = torch.softmax(logits, dim=-1).gather(-1, targets[..., None]).squeeze(-1).log()
    real = targets != PAD
    return -right[real].mean()
