"""The page a measurement leaves behind: scores, quality by length, examples with their heat-maps."""

from collections.abc import Sequence

from regard.evaluation import LengthScores
from regard.lab.evaluate import Measured, length_name
from regard.plot import AttentionMap, LengthQuality, Score, System, report_html

EXAMPLES = 12
_LONGER = "The charts go on to sentences longer than any the model was trained on; the scores do not count them."


def report_page(
    title: str,
    measured: Measured,
    longer: Measured | None = None,
    maps: Sequence[AttentionMap] = (),
    *,
    name: str = "model",
    about: str = "",
) -> str:
    """Self-contained HTML; without `maps` the first dozen translations are shown. `about` says what was measured."""
    evaluation = measured.evaluation
    scores = [
        Score("Exact match", f"{evaluation.exact_match:.1%}", "sentences translated word for word"),
        Score("BLEU", f"{evaluation.bleu:.2f}", evaluation.signatures["bleu"]),
        Score("chrF", f"{evaluation.chrf:.2f}", evaluation.signatures["chrf"]),
        Score("Sentences", f"{evaluation.sentences:,}", about),
    ]
    if evaluation.aer is not None:
        meaning = "share of wrong or missing word links, the reference forced: 0 is best"
        scores.insert(1, Score("Alignment error rate", f"{evaluation.aer:.3f}", meaning))
    rows = [*evaluation.by_length, *(longer.evaluation.by_length if longer is not None else ())]
    if not maps:
        maps = [one.attention_map() for one in measured.examples[:EXAMPLES] if one.translation.source_words]
    quality = _quality([one for one in rows if one.sentences], name)
    notes = [*measured.notes, *([_LONGER] if longer is not None else [])]
    return report_html(title=title, scores=scores, quality=quality, attentions=maps, notes=notes)


def _quality(rows: Sequence[LengthScores], name: str) -> list[LengthQuality]:
    if len(rows) < 2:
        return []
    bins = tuple(length_name(one) for one in rows)
    counts = tuple(one.sentences for one in rows)
    measures = {
        "exact match": tuple(one.exact_match for one in rows),
        "BLEU": tuple(one.bleu for one in rows),
        "alignment error rate": tuple(one.aer for one in rows),
    }
    return [
        LengthQuality(measure, bins, counts, (System(name, values),))
        for measure, values in measures.items()
        if any(value is not None for value in values)
    ]
