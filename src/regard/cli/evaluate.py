"""Measure a model: BLEU, chrF, TER, exact match, error rates, and alignment error where gold links are known.

Examples:
    regard evaluate runs/demo                              the test split of its recipe
    regard evaluate runs/multi30k-en-de --split test_2017_flickr
    regard evaluate runs/demo news.tsv                     lines of source TAB target
    regard evaluate runs/demo --source news.en --target news.fr --links news.align
    regard evaluate runs/new news.tsv --against runs/old --html report.html
    regard evaluate runs/en-de --source test.en --target test.de --protocol multi30k-de
    regard evaluate runs/seed-0 --ensemble runs/seed-1 --ensemble runs/seed-2
    regard evaluate output.de --source test.en --target test.de
    regard evaluate runs/g2p words.tsv --group --phones
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from regard.cli.escape import print_json, warn
from regard.cli.options import (
    Beam,
    Device,
    Ensemble,
    LengthPenalty,
    LongestSource,
    Parents,
    Trust,
    argument,
    flag,
    input_file,
    number,
    output_file,
    value,
)
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.lab.evaluate_model import Measured, Scoring
    from regard.lab.evaluation_data import EvaluationData


def evaluate(
    bundle: Annotated[Path, argument("SYSTEM", "A model (name, bundle or run folder), or a file of translations.")],
    data: Annotated[
        Path | None,
        argument("DATA", "A file of source TAB target (default: the recipe's test split)."),
    ] = None,
    split: Annotated[str | None, value("NAME", "dev, or a split name of the recipe's corpus (default: test).")] = None,
    source: Annotated[Path | None, input_file("Parallel data: one sentence a line.")] = None,
    target: Annotated[Path | None, input_file("Its translation, line by line.")] = None,
    reference: Annotated[list[Path] | None, input_file("A further reference for every line (repeatable).")] = None,
    group: Annotated[bool, flag("--group", "Lines with the same source are references of one sentence.")] = False,
    links: Annotated[Path | None, input_file("Gold links, Pharaoh or NAACL; for AER.")] = None,
    gold_base: Annotated[int | None, number("Index of the first word in --links: 0 or 1.", 1, 0)] = None,
    flip_gold: Annotated[bool, flag("--flip-gold", "Links in --links are written target-source.")] = False,
    against: Annotated[Path | None, value("SYSTEM", "Another system, compared by paired bootstrap.")] = None,
    protocol: Annotated[
        str | None, value("NAME", "model, raw, lowercase, multi30k-en, multi30k-fr, multi30k-de.")
    ] = None,
    tokenize: Annotated[str | None, value("NAME", "sacrebleu's tokenizer for BLEU (default: 13a).")] = None,
    phones: Annotated[bool, flag("--phones", "Targets are phones: PER, and WER of whole words.")] = False,
    as_json: Annotated[
        bool, flag("--json", "Print the scores as JSON: BLEU, chrF and TER from 0 to 100, other shares from 0 to 1.")
    ] = False,
    html: Annotated[Path | None, output_file("Write a report with charts and heat-maps.")] = None,
    parents: Parents = False,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    ensemble: Ensemble = None,
    longest_source: LongestSource = None,
    device: Device = "cpu",
    trust: Trust = None,
) -> None:
    from regard.bundle.bundle_folder import write_whole
    from regard.cli.output import check_outputs
    from regard.cli.screen import console, show_against, show_measured
    from regard.lab.against import compare_systems
    from regard.lab.evaluate_model import Scoring, recipe_files
    from regard.lab.evaluation_data import find_evaluation_data
    from regard.lab.evaluation_page import report_page
    from regard.lab.parallel import GoldFile

    systems, path = [bundle, *(ensemble or [])], data or source
    read = [*systems, data, source, target, links, against, *(reference or ())]
    check_outputs({"--html": html}, read if path else [*read, *recipe_files(bundle)], parents=parents)
    for_models = {"beam": beam, "length-penalty": length_penalty, "longest-source": longest_source, "links": links}
    _check(systems, against, for_models, gold_base is not None or flip_gold)
    gold = None if links is None else GoldFile(links, gold_base, flip_gold)
    found = find_evaluation_data(bundle, data, split, source, target, gold, trust or ())
    evaluated = found.with_references(reference or ())
    evaluated = evaluated.grouped() if group else evaluated
    for note in evaluated.notes:
        warn(note)
    load = {"device": device, "longest_source": longest_source, "trust": trust or ()}
    search = {name: value for name, value in (("beam", beam), ("length_penalty", length_penalty)) if value is not None}
    scoring, other = Scoring(protocol, tokenize, phones, with_ter=True), None
    measured = _measure(systems, evaluated, scoring, load, search)
    if against is not None:
        same = replace(scoring, protocol=measured.protocol.name if protocol is None else protocol)
        other = compare_systems(measured, _measure([against], evaluated, same, load, search), str(against))
    name, count = split or "test", len(evaluated.pairs)
    further = f" with {' and '.join(map(str, ensemble))}" if ensemble else ""
    what = f"{bundle}{further} on {path or f'its {name} set'}"
    if as_json:
        scores = {**measured.json(), "against": None if other is None else other.json()}
        print_json(scores)
    else:
        show_measured(console(), f"{what}, {count:,} sentence{'s' if count > 1 else ''}:", measured)
        if other is not None:
            show_against(str(bundle), other)
    if html is not None:  # last, so that a full disk loses no scores
        about = f"of the {name} set" if path is None else f"of {path}"
        write_whole(html, report_page(what, measured, name=str(bundle), about=about, against=other))
        warn(f"written: {html}")


def _check(systems: list[Path], against: Path | None, for_models: Mapping[str, object], gold_read: bool) -> None:
    """Raise for options that do not apply to the given systems."""
    if for_models["links"] is None and gold_read:
        raise InputError("--gold-base and --flip-gold apply to --links: name that file too")
    texts = [one for one in systems if one.is_file()]
    if texts and len(systems) > 1:
        raise InputError(f"{texts[0]} is a file of translations: --ensemble takes bundles")
    given = next((f"--{name} {value}" for name, value in for_models.items() if value is not None), None)
    if given is not None and texts and (against is None or against.is_file()):
        raise InputError(f"{given} is for a model, and {texts[0]} is a file of translations: leave it out")


def _measure(
    systems: list[Path], evaluated: "EvaluationData", scoring: "Scoring", load: dict[str, Any], search: dict[str, Any]
) -> "Measured":
    """The scores of a model, of an ensemble, or of translations in a file."""
    from regard.cli.screen import progress
    from regard.lab.evaluate_model import measure, measure_texts
    from regard.runtime.translator import load as load_translator

    pairs, more = evaluated.pairs, evaluated.more
    if systems[0].is_file():
        return measure_texts(evaluated.lines(systems[0], "translations"), pairs, more=more, scoring=scoring)
    translator = load_translator(systems, **load)
    with progress(f"measuring {systems[0]}", len(pairs)) as advance:
        return measure(translator, pairs, more=more, scoring=scoring, progress=advance, **search)
