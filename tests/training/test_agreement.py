"""R-Drop: the loss of two passes with different dropout, zero for equal passes, and a run that trains with it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from regard.data.guidance import Guidance
from regard.training.loss import batch_loss, r_drop_cross_entropy
from regard.training.recipe import RecipeError
from regard.training.run import train

from .tiny import equal, model_and_batch, tiny, weights


def made_up(words: int = 5) -> tuple[torch.Tensor, ...]:
    random = torch.Generator().manual_seed(0)
    shapes = (2 * words, 4), (7, 4), (7,)
    layers = [torch.randn(shape, generator=random, dtype=torch.float64, requires_grad=True) for shape in shapes]
    return (*layers, torch.randint(7, (words,), generator=random))


def test_the_loss_follows_the_papers_equation() -> None:
    features, weight, bias, wanted = made_up()
    objective, reported = r_drop_cross_entropy(features, weight, bias, wanted, 0.1, 0.25, 3.0)
    logits = functional.linear(features, weight, bias)
    one, other = logits.log_softmax(-1).chunk(2)
    losses = sum(
        functional.cross_entropy(part, wanted, label_smoothing=0.1, reduction="sum") for part in logits.chunk(2)
    )
    kl = functional.kl_div(one, other, reduction="sum", log_target=True)
    kl = kl + functional.kl_div(other, one, reduction="sum", log_target=True)
    torch.testing.assert_close(objective, 0.25 * (0.5 * losses + 3.0 * 0.5 * kl))
    plain = sum(functional.cross_entropy(part, wanted, reduction="sum") for part in logits.chunk(2))
    torch.testing.assert_close(reported, 0.5 * plain)
    assert not reported.requires_grad
    assert torch.autograd.gradcheck(
        lambda *given: r_drop_cross_entropy(*given, wanted, 0.1, 1.0, 3.0)[0], (features, weight, bias)
    )


def test_without_dropout_the_agreement_loss_is_zero() -> None:
    model, batch = model_and_batch()
    found = batch_loss(model, batch, smoothing=0.1, agreement=5.0)
    wanted = batch_loss(model, batch, smoothing=0.1)
    torch.testing.assert_close(found, wanted)


def test_with_dropout_the_agreement_loss_is_positive() -> None:
    model, batch = model_and_batch(dropout=0.5)
    losses = []
    for price in (1e-9, 5.0):
        torch.manual_seed(1)
        losses.append(batch_loss(model, batch, agreement=price))
    assert losses[1].objective > losses[0].objective + 0.1
    torch.testing.assert_close(losses[1].log_loss, losses[0].log_loss)


def test_guided_links_count_once_for_two_passes() -> None:
    model, batch = model_and_batch()
    links = torch.zeros(batch.rows, batch.target_out.size(1), batch.source.size(1), dtype=torch.bool)
    links[:, 0, 0] = True
    for guidance in (Guidance(links, 2.0, 0, 0, 0.5), Guidance(None, 0.0, 0, 0, 0.5)):
        guided = replace(batch, guidance=guidance)
        torch.testing.assert_close(batch_loss(model, guided, agreement=5.0), batch_loss(model, guided))
        assert batch_loss(model, guided).objective > batch_loss(model, batch).objective


def test_agreement_changes_the_trained_weights(tmp_path: Path) -> None:
    ends = []
    for price in (0.0, 2.0):
        recipe = tiny(model={"dropout": 0.2}, train={"agreement": price, "steps": 8, "validate_every": 4})
        train(recipe, tmp_path / str(price))
        ends.append(weights(tmp_path / str(price)))
    assert not equal(*ends)


def test_agreement_without_dropout_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"train.agreement = 2.0 compares two passes .*: set model.dropout"):
        tiny(train={"agreement": 2.0})
