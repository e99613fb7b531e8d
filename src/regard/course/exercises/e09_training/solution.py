"""9 · Train a model to copy and to reverse: a solution."""

# mypy: disable-error-code="no-untyped-call"

from collections.abc import Callable, Iterable

from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from regard.data.batch import Batch
from regard.models import Seq2Seq


def loss_of(model: Seq2Seq, batch: Batch) -> Tensor:
    """Teacher forcing and the loss, from exercise 8."""
    logits = model.logits(model(batch, batch.target_in).features)
    return cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=0)


def train(
    model: Seq2Seq,
    optimizer: Optimizer,
    batches: Iterable[Batch],
    clip: float,
    validate: Callable[[Seq2Seq], object],
    every: int,
) -> list[float]:
    """One update for each batch; after every `every` updates validate(model), in evaluation mode; all losses."""
    losses = []
    model.train()
    for step, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
        if step % every == 0:
            model.eval()
            validate(model)
            model.train()
    return losses
