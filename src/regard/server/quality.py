"""Scores of a model on its test set by source length, computed in the background between other requests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import sleep

import numpy as np
from jaxtyping import Float

from regard.data.pair import Pair
from regard.evaluation import (
    bins,
    bleu_from,
    bleu_statistics,
    bootstrap_interval,
    chrf_from,
    chrf_statistics,
    match_statistics,
    share,
)
from regard.lab.evaluate_model import EDGES, Example
from regard.lab.scoring_protocol import find_protocol
from regard.runtime.batcher import Batcher, Closed, Full
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator
from regard.server.errors import Refusal
from regard.server.schema.runs import Metric, QualityAnswer, QualityBin, QualitySentence
from regard.text.words import word_spans

MOST_SENTENCES = 600
CHUNK = 32
"""Sentences between which other requests get their turn."""
SAMPLES = 300
"""Samples of the bootstrap."""


@dataclass(eq=False)
class Job:
    """The test set of one model, and what is translated of it."""

    model: str
    translator: Translator
    pairs: list[Pair]
    notes: list[str]
    translations: list[Translation] = field(default_factory=list)
    answers: dict[Metric, QualityAnswer] = field(default_factory=dict)
    problem: BaseException | None = None
    lock: Lock = field(default_factory=Lock)

    def start(self, batcher: Batcher) -> "Job":
        Thread(target=self._work, args=(batcher,), name="regard-quality", daemon=True).start()
        return self

    def _work(self, batcher: Batcher) -> None:
        try:
            while len(self.translations) < len(self.pairs):
                first = len(self.translations)
                sources = [pair.source for pair in self.pairs[first : first + CHUNK]]
                try:
                    ticket = batcher.call(lambda abandoned, texts=sources: self.translator.translate(texts))  # type: ignore[misc]
                except Full:
                    sleep(1.0)
                    continue
                self.translations += ticket.future.result().value
        except Closed:
            pass
        except Exception as error:  # a request reports it
            self.problem = error

    def answer(self, metric: Metric) -> QualityAnswer:
        """Scores once everything is translated; computing them takes a second, so not in the event loop."""
        if self.problem is not None:
            raise Refusal(422, "unsupported", f"the test set cannot be translated: {self.problem}")
        with self.lock:
            done = len(self.translations)
            if done < len(self.pairs):
                return QualityAnswer(
                    model=self.model, state="computing", done=done, of=len(self.pairs), metric=metric, score=None,
                    low=None, high=None, bins=[], notes=self.notes,
                )  # fmt: skip
            if metric not in self.answers:
                self.answers[metric] = self._scores(metric)
            return self.answers[metric]

    def _scores(self, metric: Metric) -> QualityAnswer:
        bundle = self.translator.bundle
        protocol = find_protocol("model", bundle.target)
        examples = [
            Example.of(pair, one, bundle, protocol) for pair, one in zip(self.pairs, self.translations, strict=True)
        ]
        sentences = self._sentences(examples)
        statistics = _statistics(metric, examples, protocol.tokenize, protocol.lowercase)
        unit = bundle.source.config.unit
        lengths = [len(word_spans(bundle.source.config.normalise(pair.source), unit)) for pair in self.pairs]
        found = []
        for each in bins(lengths, EDGES):
            if each.members:
                score, low, high = _score(metric, statistics[list(each.members)])
                members = [sentences[number] for number in each.members]
                found.append(
                    QualityBin(
                        shortest=max(1, each.shortest), longest=each.longest, sentences=len(members), score=score,
                        low=low, high=high, examples=members,
                    )
                )  # fmt: skip
        score, low, high = _score(metric, statistics)
        return QualityAnswer(
            model=self.model, state="ready", done=len(self.pairs), of=len(self.pairs), metric=metric, score=score,
            low=low, high=high, bins=found, notes=self.notes,
        )  # fmt: skip

    def _sentences(self, examples: Sequence[Example]) -> list[QualitySentence]:
        single = chrf_statistics([one.text for one in examples], [one.references for one in examples])
        return [
            QualitySentence(
                number=number, source=pair.source, reference=one.reference, text=one.text, right=one.right,
                chrf=round(chrf_from(counts), 2),
            )
            for number, (pair, one, counts) in enumerate(zip(self.pairs, examples, single, strict=True))
        ]  # fmt: skip


def _statistics(
    metric: Metric, examples: Sequence[Example], tokenize: str, lowercase: bool
) -> Float[np.ndarray, "sentence statistic"]:
    texts, references = [one.text for one in examples], [one.references for one in examples]
    if metric == "bleu":
        return bleu_statistics(texts, references, tokenize=tokenize, lowercase=lowercase)
    return chrf_statistics(texts, references) if metric == "chrf" else match_statistics(texts, references)


def _score(metric: Metric, statistics: Float[np.ndarray, "sentence statistic"]) -> tuple[float, float, float]:
    compute = {"bleu": bleu_from, "chrf": chrf_from, "exact_match": share}[metric]
    low, high = bootstrap_interval(statistics, compute, samples=SAMPLES)
    return compute(statistics.sum(axis=0)), low, high
