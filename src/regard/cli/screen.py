"""Output of the verbs: tables, heat-maps, walks, progress and warnings; data goes to stdout, the rest to stderr."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from textwrap import wrap

import typer
from rich.console import Console

from regard.cli.escape import escaped, terminal_console, warn
from regard.evaluation import LengthScores
from regard.evaluation.evaluate_texts import figures
from regard.lab.against import OtherSystem, verdict
from regard.lab.evaluate_model import Measured, length_name
from regard.plot import terminal_heatmap, walk
from regard.plot.terminal import dealt
from regard.runtime.translation import Translation

SHOWN = 10
"""Warnings that are printed; the rest is counted."""
TEXT = 24
"""Columns that are wider hold text, not figures."""


def console() -> Console:
    """Standard output; plain text if it is piped, even with FORCE_COLOR."""
    terminal = sys.stdout.isatty()
    return terminal_console(sys.stdout, force_terminal=terminal, soft_wrap=not terminal)


class Warnings:
    """Prints the first warnings about translated lines and counts the rest."""

    def __init__(self) -> None:
        self.count = 0

    def show(self, translation: Translation, number: int | None = None) -> None:
        for warning in translation.warnings:
            self.count += 1
            if self.count <= SHOWN:
                warn(warning if number is None else f"line {number}: {warning}")

    def close(self) -> None:
        if self.count > SHOWN:
            warn(f"{self.count - SHOWN:,} further warnings are not shown")


@contextmanager
def progress(what: str, total: int | None, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr while the block runs; call the function with the amount that is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = not (wanted and sys.stderr.isatty())
    with Progress(*columns, console=terminal_console(sys.stderr), transient=True, disable=hidden) as bar, escaped():
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def show_map(screen: Console, translation: Translation, *, words: bool = False) -> None:
    """The terminal heat-map of a translation, between its pieces or its words."""
    ascii_only = screen.options.ascii_only
    screen.print(terminal_heatmap(translation.attention_map(words=words), width=screen.width, ascii_only=ascii_only))
    screen.print()


def show_walk(screen: Console, translation: Translation) -> None:
    """Attention step by step, with the attended source words highlighted."""
    attention, probabilities = translation.attention_map(), translation.probabilities
    ascii_only = screen.options.ascii_only
    screen.print(walk(attention, width=screen.width, probabilities=probabilities, ascii_only=ascii_only))
    screen.print()


def show_measured(screen: Console, heading: str, measured: Measured, longer: Measured | None = None) -> None:
    """Scores of a test set, then by source length."""
    scores, signatures = measured.evaluation, measured.evaluation.signatures
    more = {name: f"   {signatures.get(name.lower())}" for name in ("BLEU", "chrF", "TER")}
    more["entropy of attention"] = f" nats a {measured.target_unit}"
    screen.print(heading)
    for name, text in figures(scores).items():
        if longer is None or name not in ("word error rate", "entropy of attention"):
            screen.print(f"  {name:<22}{text}{more.get(name, '')}")
    if measured.protocol.name != "model":
        screen.print(f"  {'counted':<22}{measured.protocol.name}: {measured.protocol.about}")
    for note in measured.notes:
        screen.print(f"  {note}")
    rows = [one for one in scores.by_length if one.sentences]
    beyond = [one for one in longer.evaluation.by_length if one.sentences] if longer is not None else []
    if len(rows) + len(beyond) > 1:
        screen.print("\n".join(["", *_by_length(rows, beyond, measured.source_unit)]))
    if beyond:
        screen.print("* longer than any training sentence; not in the scores above")


def show_against(name: str, against: OtherSystem) -> None:
    """Each metric of two systems, their difference, and its significance."""
    lines: list[tuple[str, ...]] = [("", name, against.name, "difference", "95 % interval", "p", "")]
    for metric, one in against.comparisons.items():
        form = ".3f" if metric == "exact_match" else ".2f"
        interval = f"{one.low:+{form}} to {one.high:+{form}}"
        figures = (f"{one.first:{form}}", f"{one.second:{form}}", f"{one.difference:+{form}}", interval)
        lines.append((metric.replace("_", " "), *figures, f"{one.p_value:.3f}", verdict(one)))
    samples = next(iter(against.comparisons.values())).samples
    notes = [f"paired bootstrap, {samples:,} resampled test sets; p is the probability of such a difference by chance"]
    notes += [f"{against.name}: {note}" for note in against.measured.notes]
    typer.echo("")
    show_table(lines)
    typer.echo("\n".join(notes))


def plain_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns, figures to the right, long texts to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<", *(("<" if width > TEXT else ">") for width in widths[1:])]
    forms = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
    return ["  ".join(map(format, row, forms)).rstrip() for row in rows]


def fold_table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The table in blocks of columns, each with the names of its rows, where it is wider than `width`."""
    if max(map(len, plain_table(rows))) <= width:
        return plain_table(rows)
    name = min(max(len(row[0]) for row in rows), width // 2)
    room = max(width - name - 2, 1)
    widths = [min(max(map(len, column)), room) for column in list(zip(*rows, strict=True))[1:]]
    lines: list[str] = []
    for block in dealt(widths, room, gap=2):
        wrapped: list[tuple[str, ...]] = []
        for row in rows:  # becomes several lines, so that its cells fit
            cells = [wrap(row[0], name), *(wrap(row[1 + one], room) for one in block)]
            wrapped += zip_longest(*(cell or [""] for cell in cells), fillvalue="")
        lines += [*([""] if lines else []), *plain_table(wrapped)]
    return lines


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """Print a table: folded to the width of a terminal, whole in a file."""
    screen = console()
    typer.echo("\n".join(fold_table(rows, screen.width) if screen.is_terminal else plain_table(rows)))


def _by_length(rows: Sequence[LengthScores], beyond: Sequence[LengthScores], unit: str) -> list[str]:
    aligned = any(one.aer is not None for one in rows)
    table = [[f"source {unit}s", "sentences", "exact match", "BLEU", "chrF", *(["AER"] if aligned else [])]]
    for one in (*rows, *beyond):
        scores = f"{one.sentences:,}", f"{one.exact_match:.1%}", f"{one.bleu:.1f}", f"{one.chrf:.1f}"
        aer = [] if not aligned else ["–" if one.aer is None else f"{one.aer:.3f}"]
        table.append([length_name(one) + ("*" if one in beyond else ""), *scores, *aer])
    return plain_table(table)
