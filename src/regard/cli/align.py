"""Word links from attention: which source words each target word was written from. One line of i-j links a pair.

The target is given (a file, or a split of the recipe); without one the model translates.
A second model of the other direction is symmetrised with. Gold links score everything.

Examples:
    regard align runs/demo --tune                             the test split of its recipe
    regard align runs/en-fr news.tsv --output news.align
    regard align runs/en-fr --source news.en                  translates: TRANSLATION TAB links
    regard align runs/en-fr --source test.en --target test.fr --words spaces \\
        --reverse runs/fr-en --gold test.align \\
        --dev-source trial.en --dev-target trial.fr --dev-gold trial.align --save-reading tuned.json
    regard align runs/en-fr news.tsv --reverse runs/fr-en --reading tuned.json
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.bounds import MOST
from regard.cli.options import LongestSource, Parents, output_file
from regard.cli.trust import Trust

if TYPE_CHECKING:
    from regard.lab.align_job import Outcome

DRAWN = 50
"""Pairs on a page."""
WORDS = 10
"""Words at each end of the entropy table."""


def _file(about: str) -> Any:
    return typer.Option(metavar="FILE", help=about)


def _how(about: str, name: str | None = None, metavar: str = "HOW") -> Any:
    return typer.Option(*([name] if name else []), metavar=metavar, help=about)


def _number(about: str, most: int | None = None) -> Any:
    return typer.Option(metavar="N", help=about, max=most)


def _flag(name: str, about: str) -> Any:
    return typer.Option(name, help=about)


Data = Annotated[
    Path | None, typer.Argument(metavar="DATA", help="Lines of source TAB target; a split of the recipe if left out.")
]
Split = Annotated[str | None, _how("train, dev, test (if left out), or as the corpus names it.", metavar="NAME")]
Reverse = Annotated[Path | None, _how("A model of the other direction, to symmetrise with.", metavar="BUNDLE")]
Symmetrise = Annotated[
    str | None, _how("intersection, union, grow-diag, grow-diag-final-and (if left out) or product.")
]
Power = Annotated[
    str | None,
    _how("Links from what explains the given word; attention^X is the prior. tune: let --tune choose.", metavar="X"),
]
Known = Annotated[str | None, _how("Of --posterior: state (default), or word: without what was written before.")]


def align(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle or run folder.")],
    data: Data = None,
    source: Annotated[Path | None, _file("Parallel data: a sentence a line.")] = None,
    target: Annotated[Path | None, _file("Its translation; if left out, the model translates.")] = None,
    split: Split = None,
    reverse: Reverse = None,
    symmetrise: Symmetrise = None,
    words: Annotated[str, _how("model: links count its words; spaces: what white space separates.")] = "model",
    method: Annotated[str, _how("argmax (if left out) or threshold.")] = "argmax",
    threshold: Annotated[float | None, _how("The least weight that makes a link.", metavar="X")] = None,
    heads: Annotated[str | None, _how("layer.head, as in 1.0,1.3 or 1.*; the mean of all if left out.")] = None,
    shift: Annotated[
        int | None, _number("Read a word's links N rows after the row that wrote it; usually 0.", MOST["longest"])
    ] = None,
    null: Annotated[bool, _flag("--null", "No link for a word that looks at EOS most.")] = False,
    posterior: Power = None,
    evidence: Known = None,
    tune: Annotated[bool, _flag("--tune", "Find heads, shift, threshold on the dev set, or by agreement.")] = False,
    dev_source: Annotated[Path | None, _file("Other development data to tune on.")] = None,
    dev_target: Annotated[Path | None, _file("Its translation.")] = None,
    dev_gold: Annotated[Path | None, _file("Its gold links.")] = None,
    save_reading: Annotated[Path | None, output_file("Write how links were read, as tuned or given.")] = None,
    reading: Annotated[Path | None, _file("Read links as this file of --save-reading says.")] = None,
    gold: Annotated[Path | None, _file("Gold links, Pharaoh or NAACL; for AER.")] = None,
    gold_base: Annotated[int | None, _number("What gold counts its first word as: Pharaoh 0, NAACL 1.")] = None,
    flip_gold: Annotated[bool, _flag("--flip-gold", "Gold links are written target-source.")] = False,
    form: Annotated[str, _how("pharaoh (if left out) or naacl.", "--format", "NAME")] = "pharaoh",
    base: Annotated[int | None, _number("What the output counts the first word as: Pharaoh 0, NAACL 1.")] = None,
    output: Annotated[Path | None, output_file("Write the links to this file.")] = None,
    entropy: Annotated[bool, _flag("--entropy", "Say how spread out attention is, word by word.")] = False,
    as_json: Annotated[bool, _flag("--json", "Print scores, rules and entropy as JSON instead of links.")] = False,
    html: Annotated[Path | None, output_file(f"Write a page with the first {DRAWN} heat-maps.")] = None,
    parents: Parents = False,
    longest_source: LongestSource = None,
    device: Annotated[str, _how("Where to compute; cpu if left out.", metavar="NAME")] = "cpu",
    trust: Trust = None,
) -> None:
    from regard.cli.output import check_outputs
    from regard.cli.screen import progress, warn
    from regard.lab.align_job import prepare, run
    from regard.lab.asked import Asked, ask_posteriors, link_rule
    from regard.lab.evaluate import recipe_files

    _check(words, form, base)
    read = [bundle, reverse, data, source, target, gold, dev_source, dev_target, dev_gold, reading]
    if (data is None and source is None) or (tune and dev_source is None):
        read += recipe_files(bundle)
    check_outputs({"--output": output, "--html": html, "--save-reading": save_reading}, read, parents=parents)
    rule = link_rule(method, threshold, shift or 0, null)
    asked = Asked(
        bundle=bundle, reverse=reverse, data=data, source=source, target=target, split=split, symmetrise=symmetrise,
        spaces=words == "spaces", rule=rule, heads=heads, shift=shift, tune=tune,
        dev=(dev_source, dev_target, dev_gold), gold=gold, gold_base=gold_base, flip_gold=flip_gold, entropy=entropy,
        posteriors=ask_posteriors(posterior, evidence, reading), reading=reading, longest_source=longest_source,
        device=device, trust=tuple(trust or ()),
    )  # fmt: skip
    job = prepare(asked)
    with progress("aligning", len(job.sides) * (1 if reverse is None else 2)) as tell:
        outcome = run(job, tell)
    for note in outcome.notes:
        warn(note)
    if output is not None or not as_json:
        _write(outcome, output, form, base if base is not None else int(form == "naacl"))
    if as_json:
        typer.echo(json.dumps(outcome.json(), ensure_ascii=False, indent=2))
    else:
        _show(outcome)
    _keep(outcome, html, save_reading)


def _check(words: str, form: str, base: int | None) -> None:
    from regard.text.errors import InputError

    for name, value, valid in (("--words", words, ("model", "spaces")), ("--format", form, ("pharaoh", "naacl"))):
        if value not in valid:
            raise InputError(f"{name} {value}: valid choices are {' and '.join(valid)}")
    if base not in (None, 0, 1):
        raise InputError(f"--base {base}: the first word counts as 0 or as 1")


def _write(outcome: "Outcome", path: Path | None, form: str, base: int) -> None:
    """The links, one line a pair (Pharaoh) or a link (NAACL); translations come first where there was no target."""
    from regard.alignment import Links, format_naacl, format_pharaoh
    from regard.cli.output import open_output
    from regard.cli.screen import warn

    targets = outcome.job.sides.targets if outcome.job.translated and form == "pharaoh" else None
    with open_output(path) as file:
        for number, found in enumerate(outcome.aligned.links):
            links = Links.of(found)
            if form == "naacl":
                file.write(format_naacl(number + 1, links, base=base))
            else:
                before = "" if targets is None else f"{targets[number]}\t"
                file.write(f"{before}{format_pharaoh(links, base=base)}\n")
    what = "sentence source target S" if form == "naacl" else "source-target"
    place = "" if path is None else f"{path}: "
    pairs = "1 pair" if len(outcome.job.sides) == 1 else f"{len(outcome.job.sides):,} pairs"
    warn(f"{place}{pairs}, {outcome.aligned.chosen} links, {what}, words counted from {base}")


def _show(outcome: "Outcome") -> None:
    """Rules, scores and entropy, for people: on stderr, where links are not."""
    from rich.table import Table

    from regard.cli.terminal import terminal_console

    screen = terminal_console(sys.stderr, soft_wrap=True)
    directions = {"forward": outcome.job.forward, "backward": outcome.job.backward}
    for name, tuned in outcome.tuned.items():
        direction = directions[name]
        shifts = ", ".join(f"{shift:+d}: {aer:.3f}" for shift, aer in tuned.by_shift().items())
        said = direction.rule.describe() if direction is not None else ""
        said = said if outcome.posterior is None else f"{outcome.posterior.describe()} {said}"
        screen.print(f"{name}, tuned: {said}   (AER {tuned.aer:.3f} on the development set; by shift {shifts})")
    if outcome.scores is not None:
        table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False)
        for name in ("links", "AER", "precision", "recall", "predicted", "sure"):
            table.add_column(name, justify="left" if name == "links" else "right")
        for name, score in outcome.scores.items():
            mark = " *" if name == outcome.aligned.chosen and len(outcome.scores) > 1 else ""
            figures = (f"{value:.3f}" for value in (score.aer, score.precision, score.recall))
            table.add_row(name + mark, *figures, f"{score.predicted:,}", f"{score.sure:,}")
        screen.print(table)
        if len(outcome.scores) > 1:
            screen.print("* what was written")
    entropy = outcome.aligned.entropy
    if entropy is not None:
        rows = entropy.ranked()
        what = "attention" if outcome.posterior is None else "the posterior"
        screen.print(f"entropy of {what}: {entropy.mean:.3f} nats for each target word (0 looks at one word)")
        for title, some in (("most focused", rows[:WORDS]), ("most diffuse", rows[: -WORDS - 1 : -1])):
            listed = ", ".join(f"{word} {value:.2f} ({count}×)" for word, count, value in some)
            screen.print(f"  {title}: {listed or 'no word occurs five times'}")


def _keep(outcome: "Outcome", html: Path | None, reading: Path | None) -> None:
    """What else was to be written."""
    from regard.cli.screen import warn
    from regard.lab.reading import save_reading

    if reading is not None:
        save_reading(reading, outcome.reading)
        warn(f"written: {reading}; --reading {reading} reads other text so")
    if html is not None:
        _draw(outcome, html)


def _draw(outcome: "Outcome", path: Path) -> None:
    from regard.bundle.folder import write_whole
    from regard.cli.screen import warn
    from regard.lab.align_job import attention_maps
    from regard.plot import alignment_html

    maps = attention_maps(outcome, DRAWN)
    if not maps:
        warn(f"{path} was not written: no pair has words on both sides")
        return
    write_whole(path, alignment_html(maps, title=f"Where {outcome.job.asked.bundle} looked"))
    warn(f"written: {path}, {'1 pair' if len(maps) == 1 else f'{len(maps)} pairs'}")
