"""Triage of translations: confidence signals that need no reference, and their mean rank."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from regard.alignment import attention_entropy
from regard.runtime.traced import SentenceToTrace, TracedText, TracedTranslation, Tracing, translate_traced
from regard.runtime.translation import Translation
from regard.server.schema.others import TriageRequest, TriageRow
from regard.server.served_models import Loaded

CHUNK = 64
"""Lines that are decoded together."""
COVERED = 0.5
"""Attention, summed over the target words, from which a source word counts as read."""

Work = Callable[[Callable[[], bool]], list[TracedText]]


def chunks(request: TriageRequest, loaded: Loaded) -> list[Work]:
    """The decoding of a request in parts, between which other requests get their turn."""
    targets: Sequence[str | None] = request.translations or [None] * len(request.lines)
    sentences = [SentenceToTrace(text, target) for text, target in zip(request.lines, targets, strict=True)]
    search = {} if request.beam is None or request.translations is not None else {"beam": request.beam}

    def work(first: int) -> Work:
        part = sentences[first : first + CHUNK]
        return lambda abandoned: translate_traced(loaded.translator, part, search, Tracing(abandoned=abandoned))

    return [work(first) for first in range(0, len(sentences), CHUNK)]


def ranked(found: Sequence[TracedText]) -> list[TriageRow]:
    """A row for each line that is not blank, the least confident first."""
    rows = [_row(number, text.found[0]) for number, text in enumerate(found) if text.found]
    if not rows:
        return []
    better = [
        [row.mean_log_probability for row in rows],
        [-1.0 * row.copied for row in rows],
        [-1.0 * row.repeated for row in rows],
        [float(row.finished) for row in rows],
    ]
    if all(row.attention_entropy is not None and row.coverage is not None for row in rows):
        better.append([-float(row.attention_entropy or 0.0) for row in rows])
        better.append([float(row.coverage or 0.0) for row in rows])
    confidence = np.mean([_ranks(values) for values in better], axis=0)
    for row, value in zip(rows, confidence.tolist(), strict=True):
        row.confidence = round(value, 4)
    return sorted(rows, key=lambda row: (row.confidence, row.mean_log_probability))


def _row(number: int, found: TracedTranslation) -> TriageRow:
    translation = found.translation
    weights = translation.word_attention
    entropy = coverage = None
    if weights is not None and weights.size:
        entropy = float(attention_entropy(weights).mean())
        coverage = float((weights.sum(axis=0) >= COVERED).mean())
    return TriageRow(
        number=number,
        source=translation.source,
        text=translation.text,
        confidence=0.0,
        mean_log_probability=translation.score / max(1, len(found.tokens)),
        attention_entropy=entropy,
        coverage=coverage,
        copied=_copied(translation),
        repeated=_repeated(translation.target_words),
        finished=translation.finished,
        warnings=list(translation.warnings),
    )


def _copied(translation: Translation) -> int:
    written = set(translation.target_words)
    return sum(len(word) > 1 and word.isalpha() and word in written for word in translation.source_words)


def _repeated(words: Sequence[str]) -> int:
    """Words that repeat the one before, or whose pair repeats the pair before."""
    return sum(
        word == words[i - 1] or (i >= 3 and words[i - 1 : i + 1] == words[i - 3 : i - 1])
        for i, word in enumerate(words)
        if i
    )


def _ranks(values: Sequence[float]) -> Float[np.ndarray, " row"]:
    """0 for the lowest to 1 for the highest; equal values share their mean rank, a single one is in the middle."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) == 1:
        return np.array([0.5])
    below = (array[:, None] > array).sum(axis=1)
    equal = (array[:, None] == array).sum(axis=1)
    return np.asarray((below + (equal - 1) / 2) / (len(array) - 1))
