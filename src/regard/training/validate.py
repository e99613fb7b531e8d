"""How good a model is on the development set: loss under teacher forcing, score with greedy decoding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from regard.data.batch import Batch
from regard.evaluation import bleu, chrf, exact_match
from regard.models.seq2seq import Seq2Seq
from regard.search import SearchConfig, decode
from regard.training.config import Metric
from regard.training.loss import batch_loss
from regard.training.prepare import Prepared
from regard.training.step import is_out_of_memory
from regard.training.world import World


@dataclass(frozen=True)
class Verdict:
    """Scores of one validation and one sentence as an example: source, reference, output."""

    loss: float
    score: float
    sample: tuple[str, str, str]


@dataclass(frozen=True)
class _Part:
    """What one batch gave: its number, summed loss, target pieces, and the text found for each pair."""

    number: int
    loss: float
    tokens: int
    outputs: dict[int, str]


@torch.no_grad()
def validate(
    model: Seq2Seq, data: Prepared, metric: Metric, search: SearchConfig, world: World | None = None
) -> Verdict:
    """Decode every development pair once; where the metric is the loss, only the first batch, for the example.

    Several workers share the batches, and all of them come to the verdict that one alone would reach.
    """
    world = world or World()
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    greedy = search.model_copy(update={"beam": 1, "nbest": 1, "temperature": None, "top_k": None, "top_p": None})
    batcher, plan = data.dev_batcher, data.dev_batcher.plan()
    mine: list[_Part] = []
    for number in range(world.rank, len(plan), world.size):
        batch = batcher.batch(plan[number])
        loss, found = _try(model, batch.to(device), greedy if metric != "loss" or number == 0 else None)
        written = {int(batcher.data.numbers[item]): data.target.decode(ids) for item, ids in found.items()}
        mine.append(_Part(number, loss, int(batch.target_lengths.sum()), written))
    model.train(was_training)
    parts = sorted((part for share in world.gather(mine) for part in share), key=lambda part: part.number)
    total, tokens = sum(part.loss for part in parts), sum(part.tokens for part in parts)
    outputs = {number: text for part in parts for number, text in part.outputs.items()}
    references = [data.target.written(pair.target) for pair in data.dev]
    texts = [outputs.get(number, "") for number in range(len(references))]
    score = total / tokens if metric == "loss" else _score(metric, texts, references)
    example = min(outputs)
    return Verdict(total / tokens, score, (data.dev[example].source, references[example], outputs[example]))


def _try(model: Seq2Seq, batch: Batch, search: SearchConfig | None) -> tuple[float, dict[int, tuple[int, ...]]]:
    """Loss and, with a search, the ids found for each item; what does not fit into memory is done in two halves."""
    try:
        loss = float(batch_loss(model, batch).log_loss)
        if search is None:
            return loss, {}
        options = replace(search.options, weights=False)
        found = decode(model, batch, batch.source_lengths, search, most=model.config.most_pieces, options=options)
        return loss, {item: best.tokens for item, (best, *_) in zip(batch.indices.tolist(), found, strict=True)}
    except RuntimeError as error:
        if batch.rows == 1 or not is_out_of_memory(error):
            raise
    (loss, found_first), (more, found_second) = (_try(model, half, search) for half in batch.halves())
    return loss + more, found_first | found_second


def _score(metric: Metric, outputs: Sequence[str], references: Sequence[str]) -> float:
    if metric == "exact_match":
        return exact_match(outputs, references)
    return (bleu if metric == "bleu" else chrf)(outputs, references).score
