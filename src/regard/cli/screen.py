"""What verbs print for people: tables, heat-maps, walks; data goes to stdout, talk to stderr."""

import sys

from rich.console import Console
from rich.table import Table

from regard.lab.evaluate import Measured
from regard.plot import terminal_heatmap_rich, walk_rich
from regard.runtime.translation import Translation


def console() -> Console:
    """Standard output; plain text where it is piped."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def warn(message: str) -> None:
    sys.stderr.write(f"regard: {message}\n")


def show_map(screen: Console, translation: Translation) -> None:
    """The terminal heat-map of a translation."""
    screen.print(terminal_heatmap_rich(translation.attention_map(), width=screen.width))
    screen.print()


def show_walk(screen: Console, translation: Translation) -> None:
    """The spotlight, step by step."""
    screen.print(walk_rich(translation.attention_map(), width=screen.width))
    screen.print()


def show_measured(screen: Console, measured: Measured, longer: Measured | None = None) -> None:
    """Scores of a test set, then by source length."""
    evaluation = measured.evaluation
    screen.print(f"{evaluation.sentences:,} sentences the model never saw:")
    screen.print(f"  exact match           {evaluation.exact_match:.1%}")
    if evaluation.aer is not None:
        screen.print(f"  alignment error rate  {evaluation.aer:.3f}")
    screen.print(f"  BLEU                  {evaluation.bleu:.2f}   {evaluation.signatures['bleu']}")
    screen.print(f"  chrF                  {evaluation.chrf:.2f}   {evaluation.signatures['chrf']}")
    rows = [one for one in evaluation.by_length if one.sentences]
    beyond = [one for one in longer.evaluation.by_length if one.sentences] if longer is not None else []
    if len(rows) + len(beyond) < 2:
        return
    table = Table("source words", "sentences", "exact match", "BLEU", "AER", box=None, padding=(0, 2, 0, 0))
    for one in [*rows, *beyond]:
        table.add_row(
            f"{one.shortest}–{one.longest}" if one.longest is not None else f"{one.shortest}+",
            f"{one.sentences:,}",
            f"{one.exact_match:.1%}",
            f"{one.bleu:.1f}",
            "" if one.aer is None else f"{one.aer:.3f}",
        )
    screen.print(table)
