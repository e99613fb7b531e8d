"""Exercise 9: the given parts: a small model, batches of numbers to copy or reverse, and how well that went."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.optim import Adam, Optimizer

from regard.data.batch import Batch
from regard.data.pair import Pair
from regard.data.synthetic import Task, synthetic
from regard.models import Seq2Seq, preset
from regard.search import Hypothesis, greedy_search
from regard.text.special import BOS, EOS

SYMBOLS = 13
"""The words are the numbers 3 to 12; word w has the id w + 1, after PAD, UNK, BOS and EOS."""
SHORTEST, LONGEST = 3, 7
STEPS, ROWS = 300, 32
LEARNING_RATE = 6e-3


def small_model(units: int = 64) -> Seq2Seq:
    """Bahdanau's encoder-decoder, small, with weights drawn from torch's present seed."""
    sizes = {"embedding": units, "encoder_units": units, "decoder_units": units}
    return Seq2Seq(preset("bahdanau", "tiny", **sizes), SYMBOLS + 1, SYMBOLS + 1)


def small_optimizer(model: Seq2Seq, steps: int = STEPS) -> Optimizer:
    """Adam whose learning rate falls to a tenth over `steps` updates, by itself."""
    optimizer = Adam(model.parameters(), lr=LEARNING_RATE)

    def fall(changed: Optimizer, *_: object) -> None:
        for group in changed.param_groups:
            group["lr"] = max(group["lr"] - 0.9 * LEARNING_RATE / steps, 0.1 * LEARNING_RATE)

    optimizer.register_step_post_hook(fall)
    return optimizer


def training_batches(task: Task, steps: int = STEPS, rows: int = ROWS) -> list[Batch]:
    """One batch for each update; no sequence of the exam is among them."""
    pairs = synthetic(task, SYMBOLS, SHORTEST, LONGEST, steps * rows)
    return [as_batch(pairs[first : first + rows]) for first in range(0, len(pairs), rows)]


def as_batch(pairs: list[Pair]) -> Batch:
    """Padded ids; a target row is BOS, words, EOS."""
    sources = [_ids(pair.source) for pair in pairs]
    targets = [torch.tensor([BOS, *_ids(pair.target).tolist(), EOS]) for pair in pairs]
    return Batch(
        source=pad_sequence(sources, batch_first=True),
        source_lengths=torch.tensor([len(row) for row in sources]),
        target=pad_sequence(targets, batch_first=True),
        target_lengths=torch.tensor([len(row) - 1 for row in targets]),
        indices=torch.arange(len(pairs)),
    )


@dataclass(frozen=True)
class Exam:
    """How a model does on sequences it never saw; one sequence as an example."""

    exact: float
    """Share of sequences that are right to the last word."""
    on_the_line: float
    """Mean weight on the word that is to be written: on the diagonal for copy, the anti-diagonal for reverse."""
    source: list[str]
    target: list[str]
    weights: Float[Tensor, "target source"]


def examine(model: Seq2Seq, task: Task, count: int = 200) -> Exam:
    """Let the model write `count` unseen sequences, word by word."""
    pairs = synthetic(task, SYMBOLS, SHORTEST, LONGEST, count, split="test")
    batch = as_batch(pairs)
    was_training = model.training
    model.eval()
    written = greedy_search(model, batch, batch.source_lengths + 2)
    model.train(was_training)
    right = [list(one.tokens) == _answer(pair) for one, pair in zip(written, pairs, strict=True)]
    lit = [_lit(one, pair) for one, pair in zip(written, pairs, strict=True)]
    example = max(range(count), key=lambda number: batch.source_lengths[number].item())
    source = pairs[example].source.split()
    return Exam(
        exact=sum(right) / count,
        on_the_line=sum(lit) / count,
        source=source,
        target=[*(str(token - 1) for token in written[example].tokens if token != EOS), "EOS"][
            : len(written[example].tokens)
        ],
        weights=_weights(written[example])[:, : len(source)],
    )


def _ids(text: str) -> Tensor:
    return torch.tensor([int(word) + 1 for word in text.split()])


def _answer(pair: Pair) -> list[int]:
    return [*_ids(pair.target).tolist(), EOS]


def _weights(one: Hypothesis) -> Tensor:
    assert one.weights is not None
    return one.weights[0, 0]


def _lit(one: Hypothesis, pair: Pair) -> float:
    assert pair.links is not None
    weights = _weights(one)
    on_line = [float(weights[t, s]) for s, t in pair.links.sure if t < len(weights)]
    return sum(on_line) / len(pair.links.sure)
