"""The HTML report of an evaluation: scores, quality by length, examples with heat-maps."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from regard.evaluation import LengthScores
from regard.evaluation.evaluate_texts import FIGURES, figures
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
    notes = [*measured.notes, *([_LONGER] if longer is not None else [])]
    if against is not None:
        scores += _differences(against)
        systems[against.name] = [list(against.measured.evaluation.by_length)]
        notes += [f"{against.name}: {note}" for note in against.measured.notes]
    return report_html(title=title, scores=scores, quality=length_charts(systems), attentions=maps, notes=notes)


def _scores(measured: Measured, about: str) -> list[Score]:
    evaluation, signatures = measured.evaluation, measured.evaluation.signatures
    words = "edits over reference words" if evaluation.per is None else "words with any wrong phone"
    meanings = {
        "exact match": "sentences translated word for word",
        "alignment error rate": "share of wrong or missing word links, the reference forced: 0 is best",
        "BLEU": f"{signatures['bleu']} · {measured.protocol.about}",
        "chrF": signatures["chrf"],
        "TER": f"{signatures.get('ter')}: 0 is best",
        "phone error rate": "edits over reference phones: 0 is best",
        "word error rate": f"{words}: 0 is best",
        "entropy of attention": "nats for each target word: 0 looks at one source word",
    }
    found = [Score(name, text, meanings[name]) for name, text in figures(evaluation).items()]
    several = f", up to {evaluation.references} references each" if evaluation.references > 1 else ""
    return [*found, Score("sentences", f"{evaluation.sentences:,}", about + several)]


def _differences(against: OtherSystem) -> list[Score]:
    """The differences from the other system, and whether they are significant."""
    names = {"bleu": "BLEU", "chrf": "chrF", "exact_match": "exact match"}
    rows = []
    for metric, one in against.comparisons.items():
        digits = 3 if metric == "exact_match" else 2
        meaning = (
            f"{one.first:.{digits}f} against {one.second:.{digits}f}; 95 % of {one.samples:,} resampled test sets: "
            f"{one.low:+.{digits}f} to {one.high:+.{digits}f}; p = {one.p_value:.3f}: {verdict(one)}"
        )
        rows.append(Score(f"{names[metric]} − {against.name}", f"{one.difference:+.{digits}f}", meaning))
    return rows


MEASURES = ("exact match", "BLEU", "alignment error rate")


def length_charts(
    systems: Mapping[str, Sequence[Sequence[LengthScores]]], measures: Sequence[str] = MEASURES
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
        lines = [line for name, runs in systems.items() if (line := _line(name, runs, keys, FIGURES[measure][0]))]
        if lines:
            charts.append(LengthQuality(measure, names, counts, tuple(lines)))
    return charts


def _line(
    name: str, runs: Sequence[Sequence[LengthScores]], keys: Sequence[tuple[int, int | None]], score: str
) -> System | None:
    known = [{(one.shortest, one.longest): getattr(one, score) for one in run if one.sentences} for run in runs]
    columns = [[value for run in known if (value := run.get(key)) is not None] for key in keys]
    if not any(columns):
        return None
    mean, low, high = (tuple(pick(values) if values else None for values in columns) for pick in (fmean, min, max))
    return System(name, mean, low, high) if len(runs) > 1 else System(name, mean)
