"""How good a model is on the development set: loss under teacher forcing, score with greedy decoding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from regard.evaluation import bleu, chrf, exact_match
from regard.models.seq2seq import Seq2Seq
from regard.search import SearchConfig, decode
from regard.train.config import Metric
from regard.train.loss import batch_loss
from regard.train.prepare import Prepared


@dataclass(frozen=True)
class Verdict:
    """Scores of one validation and one sentence as an example: source, reference, output."""

    loss: float
    score: float
    sample: tuple[str, str, str]


@torch.no_grad()
def validate(model: Seq2Seq, data: Prepared, metric: Metric, search: SearchConfig) -> Verdict:
    """Decode every development pair once; where the metric is the loss, only the first batch, for the example."""
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    greedy = search.model_copy(update={"beam": 1, "nbest": 1, "temperature": None, "top_k": None, "top_p": None})
    options = replace(search.options, weights=False)
    batcher = data.dev_batcher
    outputs: dict[int, str] = {}
    total, tokens = 0.0, 0
    for batch in (one.to(device) for one in batcher.batches()):
        total += float(batch_loss(model, batch))
        tokens += int(batch.target_lengths.sum())
        if metric != "loss" or not outputs:
            found = decode(model, batch, batch.source_lengths, greedy, options=options)
            for item, hypotheses in zip(batch.indices.tolist(), found, strict=True):
                outputs[int(batcher.data.numbers[item])] = data.target.decode(hypotheses[0].tokens)
    model.train(was_training)
    references = [data.target.config.normalise(pair.target) for pair in data.dev]
    loss = total / tokens
    texts = [outputs.get(number, "") for number in range(len(references))]
    score = loss if metric == "loss" else _score(metric, texts, references)
    example = min(outputs)
    return Verdict(loss, score, (data.dev[example].source, references[example], outputs[example]))


def _score(metric: Metric, outputs: Sequence[str], references: Sequence[str]) -> float:
    if metric == "exact_match":
        return exact_match(outputs, references)
    return (bleu if metric == "bleu" else chrf)(outputs, references).score
