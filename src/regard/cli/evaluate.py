"""Measure a model: BLEU, chrF, exact match, and alignment error where gold links are known, all by source length."""

import json
from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    bundle: Annotated[Path, typer.Argument(help="A bundle or run folder.")],
    data: Annotated[Path | None, typer.Argument(help="A TSV file of pairs; the recipe's test split if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    beam: Annotated[int | None, typer.Option(min=1, help="Beam width; the recipe's if left out.")] = None,
    tokenize: Annotated[str, typer.Option(help="sacrebleu's tokenizer for BLEU.")] = "13a",
    html: Annotated[Path | None, typer.Option(help="Write a report with heat-maps here.")] = None,
) -> None:
    from regard.bundle.folder import write_whole
    from regard.cli.screen import console, show_measured
    from regard.lab.evaluate import data_pairs, measure, test_pairs
    from regard.lab.report import report_page
    from regard.runtime.translator import load

    translator = load(bundle)
    pairs = test_pairs(translator.bundle) if data is None else data_pairs(data)
    measured = measure(translator, pairs, tokenize=tokenize, **({} if beam is None else {"beam": beam}))
    if html is not None:
        write_whole(html, report_page(f"{bundle.name} on {data.name if data else 'its test set'}", measured))
    if as_json:
        typer.echo(json.dumps(measured.json(), ensure_ascii=False, indent=2))
    else:
        show_measured(console(), measured)
