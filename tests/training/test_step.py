"""One optimizer step: accumulation, label smoothing, clipping, and batches that do not fit into memory."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.training import optimizer_step
from regard.training.loss import Losses, batch_loss
from regard.training.optimizer import build_optimizer
from regard.training.optimizer_step import MemoryLimit, MicroBatch, OutOfMemory, StepOutcome, TrainStep
from regard.training.train_config import TrainConfig

from .tiny import model_and_batch


def parts(batch: Batch, times: int) -> list[Batch]:
    pieces = [batch]
    for _ in range(times):
        pieces = [half for piece in pieces for half in piece.halves()]
    return pieces


def fill(
    model: Seq2Seq, parts: list[MicroBatch], memory: MemoryLimit | None = None, warn: Any = print
) -> dict[str, Tensor]:
    config = TrainConfig(steps=1, batch_sentences=9, label_smoothing=0.1)
    step = TrainStep(model, build_optimizer(model, config), config, memory=memory or MemoryLimit())
    step.gradients(parts, sum(int(part.batch.target_lengths.sum()) for part in parts), warn)
    return {name: value.grad.clone() for name, value in model.named_parameters() if value.grad is not None}


def update(step: TrainStep, batch: Batch) -> StepOutcome:
    return step([MicroBatch(batch)], int(batch.target_lengths.sum()), print)


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=1e-10, atol=1e-12, msg=name)


@pytest.mark.parametrize("model", [{}, {"cell": "lstm", "score": "general", "placement": "output"}])
def test_accumulated_batches_give_the_gradient_of_one_large_batch(model: dict[str, Any]) -> None:
    built, batch = model_and_batch(rows=9, **model)
    whole = fill(built, [MicroBatch(batch)])
    assert_same(whole, fill(built, [MicroBatch(part) for part in parts(batch, 2)]))


def test_the_loss_is_cross_entropy_with_smoothing_over_real_words_alone() -> None:
    model, batch = model_and_batch()
    logits = model.logits(model(batch, batch.target_in).features)
    smoothing, total, plain = 0.1, torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for row in range(batch.rows):
        for place in range(int(batch.target_lengths[row])):
            scores = logits[row, place].log_softmax(dim=-1)
            wanted = batch.target_out[row, place]
            total = total - (1 - smoothing) * scores[wanted] - smoothing * scores.mean()
            plain = plain - scores[wanted]
    found = batch_loss(model, batch, smoothing=smoothing)
    torch.testing.assert_close(found.objective.double(), total, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(found.log_loss.double(), plain, rtol=1e-5, atol=1e-4)
    assert not found.log_loss.requires_grad
    objective, log_loss = batch_loss(model, batch)
    assert objective.detach() == log_loss == found.log_loss


def test_the_reported_loss_is_not_smoothed() -> None:
    model, batch = model_and_batch()
    tokens = int(batch.target_lengths.sum())
    config = TrainConfig(steps=1, batch_sentences=9, label_smoothing=0.3, learning_rate=0.05)
    train_step = TrainStep(model, build_optimizer(model, config), config)
    for _ in range(30):
        before = batch_loss(model, batch, smoothing=0.3)
        outcome = update(train_step, batch)
    assert outcome.loss == pytest.approx(float(before.log_loss) / tokens, rel=1e-6)
    assert outcome.loss < 0.9 * float(before.objective.detach()) / tokens, "smoothing has a floor of its own"


def test_a_clipped_step_moves_no_further_than_the_limit() -> None:
    model, batch = model_and_batch()
    config = TrainConfig(steps=1, batch_sentences=9, clip=0.01)
    outcome = update(TrainStep(model, torch.optim.SGD(model.parameters(), 1.0), config), batch)
    norm = torch.stack([value.grad.norm() for value in model.parameters() if value.grad is not None]).norm()
    assert outcome.gradient_norm > 0.01
    assert norm == pytest.approx(0.01, rel=1e-3)
    assert outcome.tokens == int(batch.target_lengths.sum())


def test_an_update_that_is_not_finite_is_skipped() -> None:
    model, batch = model_and_batch()
    with torch.no_grad():
        next(model.parameters())[5] = float("nan")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    config = TrainConfig(steps=1, batch_sentences=9)
    outcome = update(TrainStep(model, build_optimizer(model, config), config), batch)
    assert not outcome.finite
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adadelta"])
def test_every_optimizer_learns(optimizer: str) -> None:
    model, batch = model_and_batch()
    rate = 1.0 if optimizer == "adadelta" else 1e-2
    config = TrainConfig(steps=1, batch_sentences=9, optimizer=optimizer, learning_rate=rate)
    train_step = TrainStep(model, build_optimizer(model, config), config)
    losses = [update(train_step, batch).loss for _ in range(30)]
    assert losses[-1] < 0.9 * losses[0]


def test_adamw_decays_weights_and_adam_takes_its_betas() -> None:
    config = TrainConfig(
        steps=1,
        batch_sentences=1,
        optimizer="adamw",
        weight_decay=0.3,
        betas=(0.8, 0.9),
        epsilon=1e-5,
        learning_rate=0.1,
    )
    updater = build_optimizer(nn.Linear(2, 2), config)
    group = updater.param_groups[0]
    assert (group["weight_decay"], group["betas"], group["eps"], group["lr"]) == (0.3, (0.8, 0.9), 1e-5, 0.1)
    assert isinstance(updater, torch.optim.AdamW)


class Scarce:
    """Fake memory that fits batches up to a number of slots."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.tried: list[int] = []

    def loss(self, model: Seq2Seq, batch: Batch, **options: Any) -> Losses:
        self.tried.append(batch.slots)
        value = batch_loss(model, batch, **options)
        if batch.slots > self.slots:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        return value


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Scarce:
    memory = Scarce(40)
    monkeypatch.setattr(optimizer_step, "batch_loss", memory.loss)
    return memory


@pytest.mark.parametrize("forced", [None, torch.tensor([True, False, False, True, False, True, False, False])])
def test_a_batch_that_does_not_fit_is_split_and_its_gradient_stays_the_same(
    forced: Tensor | None, scarce: Scarce
) -> None:
    model, batch = model_and_batch(rows=9)
    assert batch.target_in.size(1) == 8
    half = parts(batch, 1)[0]
    micro_batches = [
        MicroBatch(batch, forced),
        MicroBatch(half, None if forced is None else ~forced[: half.target_in.size(1)]),
    ]
    scarce.slots = 10_000
    whole = fill(model, micro_batches)
    scarce.slots = 40
    warnings: list[str] = []
    memory = MemoryLimit()
    assert_same(whole, fill(model, micro_batches, memory, warnings.append))
    assert warnings[0].startswith(
        "out of memory with 9 sentences of up to 8 + 8 pieces: batches of this size are split"
    )
    scarce.tried.clear()
    reported = len(warnings)
    assert_same(whole, fill(model, micro_batches, memory, warnings.append))
    assert max(scarce.tried) <= 40, "what is known not to fit is split before it fails"
    assert len(warnings) == reported, "and nobody is warned twice"


def test_running_out_of_main_memory_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = model_and_batch(rows=4)
    failures = iter([RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")])

    def loss(*given: Any, **options: Any) -> Losses:
        for failure in failures:
            raise failure
        return batch_loss(*given, **options)

    monkeypatch.setattr(optimizer_step, "batch_loss", loss)
    warnings: list[str] = []
    fill(model, [MicroBatch(batch)], warn=warnings.append)
    assert len(warnings) == 1


def test_other_errors_are_not_treated_as_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(*given: Any, **options: Any) -> Losses:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(optimizer_step, "batch_loss", loss)
    model, batch = model_and_batch()
    with pytest.raises(RuntimeError, match="shapes differ"):
        fill(model, [MicroBatch(batch)])


def test_a_single_sentence_that_does_not_fit_raises_with_the_remedy(scarce: Scarce) -> None:
    model, batch = model_and_batch(rows=2)
    scarce.slots = 1
    with pytest.raises(
        OutOfMemory, match=r"a single sentence pair of \d source and \d target pieces does not fit.*long"
    ):
        fill(model, [MicroBatch(batch)])


def test_bf16_gradients_have_nearly_the_same_direction() -> None:
    model, batch = model_and_batch(dtype=torch.float32)
    config = TrainConfig(steps=1, batch_sentences=9)
    found = []
    for autocast in (None, torch.bfloat16):
        step = TrainStep(model, build_optimizer(model, config), config, autocast)
        step.gradients([MicroBatch(batch)], int(batch.target_lengths.sum()), print)
        found.append(torch.cat([value.grad.flatten() for value in model.parameters() if value.grad is not None]))
    assert not torch.equal(found[0], found[1])
    assert F.cosine_similarity(found[0], found[1], dim=0) > 0.99
