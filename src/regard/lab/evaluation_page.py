"""The HTML report of an evaluation: scores, quality by length, examples with heat-maps."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from regard.evaluation import LengthScores
from regard.lab.against import OtherSystem, verdict
from regard.lab.evaluate_model import Measured, length_name
from regard.plot import AttentionMap, LengthQuality, Score, System, report_html

EXAMPLES = 12
_LONGER = "The charts include sentences longer than any that the model was trained on; the scores do not."


def report_page(
    title: str,
    measured: Measured,
    longer: Measured | None = None,
    maps: Sequence[AttentionMap] = (),
    *,
    name: str = "model",
    about: str = "",
    against: OtherSystem | None = None,
) -> str:
    """Self-contained HTML; without `maps`, those of the first translations. `about` describes the test set."""
    rows = [*measured.evaluation.by_length, *(longer.evaluation.by_length if longer is not None else ())]
    if not maps:
        maps = [one.attention_map() for one in measured.examples[:EXAMPLES] if one.translation.source_words]
    systems = {name: [rows]}
    scores = _scores(measured, about)
    if against is not None:
        scores += _differences(against)
        systems[against.name] = [list(against.measured.evaluation.by_length)]
    notes = [*measured.notes, *([_LONGER] if longer is not None else [])]
    if against is not None:
        notes += [f"{against.name}: {note}" for note in against.measured.notes]
    return report_html(title=title, scores=scores, quality=length_charts(systems), attentions=maps, notes=notes)


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


def _differences(against: OtherSystem) -> list[Score]:
    """The differences from the other system, and whether they are significant."""
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


MEASURES: dict[str, Callable[[LengthScores], float | None]] = {
    "exact match": lambda one: one.exact_match,
    "BLEU": lambda one: one.bleu,
    "alignment error rate": lambda one: one.aer,
}


def length_charts(
    systems: Mapping[str, Sequence[Sequence[LengthScores]]], measures: Sequence[str] = tuple(MEASURES)
) -> list[LengthQuality]:
    """Charts by source length with a line for each system: the mean of its runs, and a band from worst to best run."""
    bins = {
        (one.shortest, one.longest): one for runs in systems.values() for run in runs for one in run if one.sentences
    }
    if len(bins) < 2:
        return []
    keys = sorted(bins, key=lambda key: key[0])
    names, counts = tuple(length_name(bins[key]) for key in keys), tuple(bins[key].sentences for key in keys)
    charts = []
    for measure in measures:
        lines = [line for name, runs in systems.items() if (line := _line(name, runs, keys, MEASURES[measure]))]
        if lines:
            charts.append(LengthQuality(measure, names, counts, tuple(lines)))
    return charts


def _line(
    name: str,
    runs: Sequence[Sequence[LengthScores]],
    keys: Sequence[tuple[int, int | None]],
    get: Callable[[LengthScores], float | None],
) -> System | None:
    known = [{(one.shortest, one.longest): get(one) for one in run if one.sentences} for run in runs]
    columns = [[value for run in known if (value := run.get(key)) is not None] for key in keys]
    if not any(columns):
        return None
    mean, low, high = (tuple(pick(values) if values else None for values in columns) for pick in (fmean, min, max))
    return System(name, mean, low, high) if len(runs) > 1 else System(name, mean)
