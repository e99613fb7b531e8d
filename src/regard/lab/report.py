"""The page a measurement leaves behind: scores, quality by length, examples with their heat-maps."""

from collections.abc import Callable, Mapping, Sequence

from regard.evaluation import LengthScores
from regard.lab.against import Against, verdict
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
    against: Against | None = None,
) -> str:
    """Self-contained HTML; without `maps` the first dozen translations are shown. `about` says what was measured."""
    evaluation = measured.evaluation
    rows = [*evaluation.by_length, *(longer.evaluation.by_length if longer is not None else ())]
    if not maps:
        maps = [one.attention_map() for one in measured.examples[:EXAMPLES] if one.translation.source_words]
    systems = {name: [one for one in rows if one.sentences]}
    scores = _scores(measured, about)
    if against is not None:
        scores += _differences(against)
        systems[against.name] = [one for one in against.measured.evaluation.by_length if one.sentences]
    notes = [*measured.notes, *([_LONGER] if longer is not None else [])]
    if against is not None:
        notes += [f"{against.name}: {note}" for note in against.measured.notes]
    return report_html(title=title, scores=scores, quality=quality(systems), attentions=maps, notes=notes)


def _scores(measured: Measured, about: str) -> list[Score]:
    evaluation = measured.evaluation
    found = [Score("Exact match", f"{evaluation.exact_match:.1%}", "sentences translated word for word")]
    if evaluation.aer is not None:
        meaning = "share of wrong or missing word links, the reference forced: 0 is best"
        found.append(Score("Alignment error rate", f"{evaluation.aer:.3f}", meaning))
    found += [
        Score("BLEU", f"{evaluation.bleu:.2f}", f"{evaluation.signatures['bleu']} · {measured.protocol.about}"),
        Score("chrF", f"{evaluation.chrf:.2f}", evaluation.signatures["chrf"]),
    ]
    if evaluation.ter is not None:
        found.append(Score("TER", f"{evaluation.ter:.2f}", f"{evaluation.signatures['ter']}: 0 is best"))
    if evaluation.per is not None:
        found.append(Score("Phone error rate", f"{evaluation.per:.2%}", "edits over reference phones: 0 is best"))
    if evaluation.wer is not None:
        meaning = "edits over reference words" if evaluation.per is None else "words with any wrong phone"
        found.append(Score("Word error rate", f"{evaluation.wer:.2%}", f"{meaning}: 0 is best"))
    if evaluation.entropy is not None:
        meaning = "nats for each target word: 0 looks at one source word"
        found.append(Score("Entropy of attention", f"{evaluation.entropy:.3f}", meaning))
    several = f", up to {evaluation.references} references each" if evaluation.references > 1 else ""
    return [*found, Score("Sentences", f"{evaluation.sentences:,}", about + several)]


def _differences(against: Against) -> list[Score]:
    """How far this system is from the other, and whether that is more than chance."""
    names = {"bleu": "BLEU", "chrf": "chrF", "exact_match": "Exact match"}
    rows = []
    for metric, one in against.comparisons.items():
        digits = 3 if metric == "exact_match" else 2
        meaning = (
            f"{one.first:.{digits}f} against {one.second:.{digits}f}; 95 % of {one.samples:,} resampled test sets: "
            f"{one.low:+.{digits}f} to {one.high:+.{digits}f}; p = {one.p_value:.3f}: {verdict(one)}"
        )
        rows.append(Score(f"{names[metric]} − {against.name}", f"{one.difference:+.{digits}f}", meaning))
    return rows


def quality(systems: Mapping[str, Sequence[LengthScores]]) -> list[LengthQuality]:
    """Charts by length, a line for each system; bins that any system has, in order."""
    every = {(one.shortest, one.longest): one for rows in systems.values() for one in rows}
    if len(every) < 2:
        return []
    keys = sorted(every, key=lambda key: key[0])
    measures: dict[str, Callable[[LengthScores], float | None]] = {
        "exact match": lambda one: one.exact_match,
        "BLEU": lambda one: one.bleu,
        "alignment error rate": lambda one: one.aer,
    }
    charts = []
    for measure, get in measures.items():
        lines = []
        for name, rows in systems.items():
            known = {(one.shortest, one.longest): get(one) for one in rows}
            if any(value is not None for value in known.values()):
                lines.append(System(name, tuple(known.get(key) for key in keys)))
        if lines:
            names = tuple(length_name(every[key]) for key in keys)
            counts = tuple(every[key].sentences for key in keys)
            charts.append(LengthQuality(measure, names, counts, tuple(lines)))
    return charts
