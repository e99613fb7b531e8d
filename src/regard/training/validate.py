"""Validation: loss under teacher forcing and score with greedy search, over the development set."""

from dataclasses import dataclass, replace

import torch

from regard.data.batch import Batch
from regard.evaluation import bleu, chrf, exact_match
from regard.models.seq2seq import Seq2Seq
from regard.search import SearchConfig, decode
from regard.torch_private import is_out_of_memory
from regard.training.loss import batch_loss
from regard.training.prepare import Prepared
from regard.training.train_config import Metric
from regard.training.world import World


@dataclass(frozen=True)
class Scores:
    """Loss and score of one validation, and one sentence as a sample: source, reference, output."""

    loss: float
    score: float
    sample: tuple[str, str, str]


@torch.no_grad()
def validate(
    model: Seq2Seq, data: Prepared, metric: Metric, search: SearchConfig, world: World | None = None
) -> Scores:
    """Decode every development pair once; where the metric is the loss, only the first batch, for the sample.

    Several workers share the batches, and all of them return the scores that one alone would.
    """
    world = world or World()
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    greedy = search.model_copy(update={"beam": 1, "nbest": 1, "temperature": None, "top_k": None, "top_p": None})
    batcher, plan = data.dev_batcher, data.dev_batcher.plan()
    mine: list[tuple[int, float, int, dict[int, str]]] = []
    for number in range(world.rank, len(plan), world.size):
        batch = batcher.batch(plan[number])
        loss, found = _decode(model, batch.to(device), greedy if metric != "loss" or number == 0 else None)
        texts = {int(batcher.data.numbers[item]): data.target.decode(ids) for item, ids in found.items()}
        mine.append((number, loss, int(batch.target_lengths.sum()), texts))
    model.train(was_training)
    # In the order of the batches, so that the sum does not depend on the number of workers.
    _, losses, tokens, texts_of = zip(*sorted(one for share in world.gather(mine) for one in share), strict=True)
    loss = sum(losses) / sum(tokens)
    outputs = {number: text for texts in texts_of for number, text in texts.items()}
    references = [data.target.written(pair.target) for pair in data.dev]
    everything = [outputs.get(number, "") for number in range(len(references))]
    if metric == "loss":
        score = loss
    elif metric == "exact_match":
        score = exact_match(everything, references)
    else:
        score = (bleu if metric == "bleu" else chrf)(everything, references).score
    sample = min(outputs)
    return Scores(loss, score, (data.dev[sample].source, references[sample], outputs[sample]))


def _decode(model: Seq2Seq, batch: Batch, search: SearchConfig | None) -> tuple[float, dict[int, tuple[int, ...]]]:
    """Loss and, with a search, the ids found for each item; a batch that does not fit into memory is halved."""
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
    (loss, found_first), (more, found_second) = (_decode(model, half, search) for half in batch.halves())
    return loss + more, found_first | found_second
