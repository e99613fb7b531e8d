"""Measure a model: BLEU, chrF, exact match, and alignment error where gold links are known, all by source length.

Examples:
    regard evaluate runs/demo                              the test split of its recipe
    regard evaluate runs/demo news.tsv                     lines of source TAB target
    regard evaluate runs/demo --source news.en --target news.fr --links news.align
"""

import json
from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle or run folder.")],
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="A file of source TAB target; the recipe's test split if left out."),
    ] = None,
    source: Annotated[Path | None, typer.Option(metavar="FILE", help="Parallel data: a sentence a line.")] = None,
    target: Annotated[Path | None, typer.Option(metavar="FILE", help="Its translation, line by line.")] = None,
    links: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Gold links, Pharaoh format, counted from 0; for AER.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report with heat-maps.")] = None,
    beam: Annotated[int | None, typer.Option(metavar="N", help="Beam width; the recipe's if left out.")] = None,
    tokenize: Annotated[str, typer.Option(metavar="NAME", help="sacrebleu's tokenizer for BLEU; usually 13a.")] = "13a",
    device: Annotated[str, typer.Option(metavar="NAME", help="Where to compute; cpu if left out.")] = "cpu",
) -> None:
    from regard.bundle.folder import write_whole
    from regard.cli.screen import console, progress, show_measured, warn
    from regard.lab.evaluate import file_pairs, measure, recipe_pairs
    from regard.lab.report import report_page
    from regard.runtime.translator import load
    from regard.text.errors import InputError

    if (source is None) != (target is None) or (links is not None and source is None):
        raise InputError("--source and --target go together, and --links with both")
    if data is not None and source is not None:
        raise InputError(f"{data} and --source were both given: leave one of them out")
    translator = load(bundle, device)
    path = data or source
    corpus = recipe_pairs(translator.bundle) if path is None else file_pairs(path, target, links)
    for note in corpus.notes:
        warn(note)
    with progress("measuring", len(corpus.pairs)) as tell:
        search = {} if beam is None else {"beam": beam}
        measured = measure(translator, corpus.pairs, tokenize=tokenize, progress=tell, **search)
    what = f"{bundle} on {path or 'its test set'}"
    if html is not None:
        write_whole(html, report_page(what, measured, about="of the test set" if path is None else f"of {path}"))
        warn(f"written: {html}")
    if as_json:
        typer.echo(json.dumps(measured.json(), ensure_ascii=False, indent=2))
    else:
        count = len(corpus.pairs)
        show_measured(console(), f"{what}, {count:,} sentence{'s' if count > 1 else ''}:", measured)
