"""The page a measurement leaves behind: scores, quality by length, examples with their heat-maps."""

from collections.abc import Sequence

from regard.evaluation import LengthScores
from regard.lab.evaluate import Measured
from regard.plot import AttentionMap, LengthQuality, Score, System, report_html


def report_page(
    title: str, measured: Measured, longer: Measured | None = None, maps: Sequence[AttentionMap] = (), name: str = "model"
) -> str:
    """Self-contained HTML; without `maps` the first dozen translations are shown."""
    evaluation = measured.evaluation
    scores = [
        Score("Exact match", f"{evaluation.exact_match:.1%}", "sentences translated word for word"),
        Score("BLEU", f"{evaluation.bleu:.2f}", evaluation.signatures["bleu"]),
        Score("chrF", f"{evaluation.chrf:.2f}", evaluation.signatures["chrf"]),
        Score("Sentences", f"{evaluation.sentences:,}", "none of them seen in training"),
    ]
    if evaluation.aer is not None:
        meaning = "share of wrong or missing word links, the reference forced: 0 is best"
        scores.insert(1, Score("Alignment error rate", f"{evaluation.aer:.3f}", meaning))
    rows = [one for one in evaluation.by_length if one.sentences]
    rows += [one for one in longer.evaluation.by_length if one.sentences] if longer is not None else []
    if not maps:
        maps = [one.attention_map() for one in measured.translations[:12] if one.text]
    return report_html(title=title, scores=scores, quality=_quality(rows, name), attentions=maps)


def _quality(rows: Sequence[LengthScores], name: str) -> list[LengthQuality]:
    if len(rows) < 2:
        return []
    bins = tuple(f"{one.shortest}–{one.longest}" if one.longest else f"{one.shortest}+" for one in rows)
    counts = tuple(one.sentences for one in rows)
    return [
        LengthQuality("exact match (%)", bins, counts, (System(name, tuple(_percent(one.exact_match) for one in rows)),)),
        LengthQuality("BLEU", bins, counts, (System(name, tuple(one.bleu for one in rows)),)),
    ]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
