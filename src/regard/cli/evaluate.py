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

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Beam, LongestSource, Parents, Trust, output_file

if TYPE_CHECKING:
    from regard.lab.against import Against
    from regard.lab.evaluate import Measured
    from regard.lab.parallel import GoldFile
    from regard.lab.yardstick import Yardstick


def evaluate(
    bundle: Annotated[Path, typer.Argument(metavar="SYSTEM", help="A bundle, run folder, or file of translations.")],
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="A file of source TAB target; the recipe's test split if left out."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of test: dev, or as the recipe's corpus names it.")
    ] = None,
    source: Annotated[Path | None, typer.Option(metavar="FILE", help="Parallel data: a sentence a line.")] = None,
    target: Annotated[Path | None, typer.Option(metavar="FILE", help="Its translation, line by line.")] = None,
    reference: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A further reference for every line (repeatable).")
    ] = None,
    group: Annotated[
        bool, typer.Option("--group", help="Lines with the same source are references of one sentence.")
    ] = False,
    links: Annotated[Path | None, typer.Option(metavar="FILE", help="Gold links, Pharaoh or NAACL; for AER.")] = None,
    gold_base: Annotated[int | None, typer.Option(metavar="N", help="What --links counts its first word as.")] = None,
    flip_gold: Annotated[bool, typer.Option("--flip-gold", help="--links are written target-source.")] = False,
    against: Annotated[
        Path | None, typer.Option(metavar="SYSTEM", help="Another system: is the difference more than chance?")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="model, raw, lowercase, multi30k-en, multi30k-fr, multi30k-de.")
    ] = None,
    tokenize: Annotated[
        str | None, typer.Option(metavar="NAME", help="sacrebleu's tokenizer for BLEU; 13a if left out.")
    ] = None,
    phones: Annotated[bool, typer.Option("--phones", help="Targets are phones: PER, and WER of whole words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    html: Annotated[Path | None, output_file("Write a report with charts, heat-maps.")] = None,
    parents: Parents = False,
    beam: Beam = None,
    length_penalty: Annotated[
        float | None, typer.Option(metavar="X", help="Scores are divided by length^X; the recipe's if left out.")
    ] = None,
    ensemble: Annotated[
        list[Path] | None, typer.Option(metavar="BUNDLE", help="A further bundle that votes (repeatable).")
    ] = None,
    longest_source: LongestSource = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="Where to compute; cpu if left out.")] = "cpu",
    trust: Trust = None,
) -> None:
    from regard.cli.screen import warn
    from regard.lab.against import compare_systems

    read = [bundle, data, source, target, links, against, *(reference or ()), *(ensemble or ())]
    _check_output(html, read, None if data or source else bundle, parents)
    _check_ensemble(bundle, ensemble or [])
    for_models = {"beam": beam, "length-penalty": length_penalty, "longest-source": longest_source, "links": links}
    _check_files([bundle, *([] if against is None else [against])], for_models)
    gold = _gold(links, gold_base, flip_gold)
    yardstick = _yardstick(bundle, data, split, source, target, gold, reference or [], group, trust or [])
    for note in yardstick.notes:
        warn(note)
    options: dict[str, Any] = {"tokenize": tokenize, "phones": phones, "with_ter": True, "protocol": protocol}
    options |= _chosen(beam=beam, length_penalty=length_penalty)
    where, other = {"device": device, "longest_source": longest_source, "trust": trust or ()}, None
    measured = _measure([bundle, *(ensemble or [])], yardstick, where, options)
    if against is not None:
        same = {**options, "protocol": measured.protocol.name if protocol is None else protocol}
        other = compare_systems(measured, _measure([against], yardstick, where, same), str(against))
    path, name, count = data or source, split or "test", len(yardstick.pairs)
    what = f"{_voters(bundle, ensemble or [])} on {path or f'its {name} set'}"
    if as_json:
        typer.echo(_json({**measured.json(), "against": None if other is None else other.json()}))
    else:
        _show(f"{what}, {count:,} sentence{'s' if count > 1 else ''}:", str(bundle), measured, other)
    if html is not None:  # last: a full disk loses no scores
        about = f"of the {name} set" if path is None else f"of {path}"
        _write_report(html, what, measured, name=str(bundle), about=about, against=other)


def _write_report(html: Path, what: str, measured: "Measured", **options: Any) -> None:
    from regard.bundle.folder import write_whole
    from regard.cli.screen import warn
    from regard.lab.report import report_page

    write_whole(html, report_page(what, measured, **options))
    warn(f"written: {html}")


def _check_output(html: Path | None, read: list[Path | None], splits_of: Path | None, parents: bool) -> None:
    """Refuse a report that would replace an input, or the data that the recipe of `splits_of` names."""
    from regard.cli.output import check_outputs
    from regard.lab.evaluate import recipe_files

    further = [] if splits_of is None else recipe_files(splits_of)
    check_outputs({"--html": html}, [*read, *further], parents=parents)


def _show(heading: str, name: str, measured: "Measured", other: "Against | None") -> None:
    from regard.cli.screen import console, show_against, show_measured

    show_measured(console(), heading, measured)
    if other is not None:
        show_against(name, other)


def _voters(bundle: Path, further: list[Path]) -> str:
    return f"{bundle} with {' and '.join(map(str, further))}" if further else str(bundle)


def _json(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, indent=2)


def _chosen(**options: Any) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _gold(links: Path | None, base: int | None, flip: bool) -> "GoldFile | None":
    from regard.lab.parallel import GoldFile
    from regard.text.errors import InputError

    if links is None and (base is not None or flip):
        raise InputError("--gold-base and --flip-gold say how --links is read: name that file too")
    return None if links is None else GoldFile(links, base, flip)


def _yardstick(
    system: Path,
    data: Path | None,
    split: str | None,
    source: Path | None,
    target: Path | None,
    links: "GoldFile | None",
    references: list[Path],
    group: bool,
    trust: list[str],
) -> "Yardstick":
    """What to measure on, from whatever was named."""
    from regard.bundle.store import load_bundle
    from regard.lab.evaluate import recipe_pairs
    from regard.lab.yardstick import Yardstick, read_yardstick
    from regard.text.errors import InputError

    if (source is None) != (target is None) or (links is not None and source is None):
        raise InputError("--source and --target go together, and --links with both")
    if data is not None and source is not None:
        raise InputError(f"{data} and --source were both given: leave one of them out")
    path = data or source
    if path is not None and split is not None:
        raise InputError(f"{path} and --split were both given: leave one of them out")
    if path is not None:
        found = read_yardstick(path, target, links)
        if links is not None and not system.is_file():
            found = replace(found, notes=(*found.notes, *_word_note(system, found, trust)))
    elif system.is_file():
        raise InputError(
            f"{system} is a file of translations: name what it translates, with DATA or --source, --target"
        )
    else:
        corpus = recipe_pairs(load_bundle(system, trust=trust), split or "test")
        found = Yardstick.of(corpus.pairs, corpus.notes)
    if references:
        found = found.with_references(references)
    return found.grouped() if group else found


def _word_note(system: Path, yardstick: "Yardstick", trust: list[str]) -> list[str]:
    """Gold links of tokenised text count words at white space, which a model may split further."""
    from regard.bundle.store import load_bundle
    from regard.lab.align import word_note
    from regard.lab.parallel import ParallelText

    text = ParallelText.of(yardstick.pairs)
    return word_note(text, load_bundle(system, trust=trust), "regard align --gold with --words spaces")


def _check_ensemble(system: Path, further: list[Path]) -> None:
    from regard.text.errors import InputError

    for one in (system, *further) if further else ():
        if one.is_file():
            raise InputError(f"{one} is a file of translations, which cannot vote: --ensemble takes bundles")


def _check_files(systems: list[Path], options: Mapping[str, object]) -> None:
    """Refuse what only a model can be asked where there is none, rather than measure something else in silence."""
    from regard.text.errors import InputError

    given = next((f"--{name} {value}" for name, value in options.items() if value is not None), None)
    if given is not None and all(system.is_file() for system in systems):
        raise InputError(f"{given} is for a model, and {systems[0]} is a file of translations: leave it out")


def _measure(systems: list[Path], yardstick: "Yardstick", where: dict[str, Any], options: dict[str, Any]) -> "Measured":
    """The scores of a model, of several that vote, or of translations in a file."""
    from regard.cli.screen import progress
    from regard.lab.evaluate import measure, measure_texts
    from regard.runtime.translator import load

    protocol, system = options["protocol"], systems[0]
    if system.is_file():
        texts = yardstick.lines(system, "translations")
        known = {name: value for name, value in options.items() if name not in ("beam", "length_penalty")}
        return measure_texts(texts, yardstick.pairs, more=yardstick.more, **{**known, "protocol": protocol or "raw"})
    translator = load(systems, **where)
    with progress(f"measuring {system}", len(yardstick.pairs)) as tell:
        return measure(
            translator,
            yardstick.pairs,
            more=yardstick.more,
            progress=tell,
            **{**options, "protocol": protocol or "model"},
        )
