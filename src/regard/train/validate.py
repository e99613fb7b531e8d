"""How good the model is on the development set: loss under teacher forcing, score with greedy decoding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.bundle.store import Bundle
from regard.data.batching import Batcher
from regard.data.pair import Pair
from regard.evaluation import bleu, chrf, exact_match
from regard.search import Options, SearchConfig, decode
from regard.train.config import Metric
from regard.train.loss import batch_loss


@dataclass(frozen=True)
class Verdict:
    """Scores of one validation and one sentence as an example: source, reference, output."""

    loss: float
    score: float
    sample: tuple[str, str, str]


@torch.no_grad()
def validate(bundle: Bundle, pairs: Sequence[Pair], batcher: Batcher, metric: Metric, search: SearchConfig) -> Verdict:
    """Decode what `batcher` was made from: the items of `pairs` that could be encoded."""
    model = bundle.model
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    outputs = [""] * len(pairs)
    total, tokens = 0.0, 0
    greedy = search.model_copy(update={"beam": 1, "nbest": 1, "temperature": None, "top_k": None, "top_p": None})
    for batch in (one.to(device) for one in batcher.batches()):
        total += float(batch_loss(model, batch))
        tokens += int(batch.target_lengths.sum())
        if metric == "loss":
            continue
        found = decode(model, batch, batch.source_lengths, greedy, options=Options(weights=False))
        for index, hypotheses in zip(batcher.data.numbers[batch.indices.cpu().numpy()], found, strict=True):
            outputs[index] = bundle.target.decode(hypotheses[0].tokens)
    model.train(was_training)
    references = [bundle.target.config.normalise(pair.target) for pair in pairs]
    loss = total / max(1, tokens)
    score = loss if metric == "loss" else _score(metric, outputs, references)
    return Verdict(loss, score, (pairs[0].source, references[0], outputs[0]))


def _score(metric: Metric, outputs: list[str], references: list[str]) -> float:
    if metric == "exact_match":
        return exact_match(outputs, references)
    return (bleu if metric == "bleu" else chrf)(outputs, references).score


def better(metric: Metric, score: float, best: float | None) -> bool:
    """Loss falls, everything else rises."""
    return best is None or (score < best if metric == "loss" else score > best)
