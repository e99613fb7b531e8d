"""Escapes control characters in text that is printed to a terminal; only our own colours pass.

While a verb runs, `sys.stderr`, and `sys.stdout` if it is a terminal, pass text through `escape_controls`. In a file
or pipe, standard output is data and stays unchanged. Code that draws with escape sequences writes to the `bare`
stream, and escapes its text itself.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from regard.text.controls import escape_controls


class EscapedStream:
    """A text stream that escapes control characters; everything else is delegated to the stream behind it."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        self.behind.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "behind"):  # `typer.echo` would use them to write unescaped bytes
            raise AttributeError(name)
        return getattr(self.behind, name)


class EscapedConsole(Console):
    """rich's console, with control characters in its text escaped."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


def terminal_console(stream: Any, **options: Any) -> Console:
    """A console without markup and highlighting."""
    return EscapedConsole(file=bare(stream), highlight=False, markup=False, emoji=False, **options)


def bare(stream: Any) -> Any:
    """The stream behind EscapedStream and behind rich's redirection while it draws a bar."""
    while behind := getattr(stream, "behind", None) or getattr(stream, "rich_proxied_file", None):
        stream = behind
    return stream


@contextmanager
def escaped() -> Iterator[None]:
    """Escape control characters while the block runs; needed again inside a bar, where rich replaces the streams."""
    before = sys.stdout, sys.stderr
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = EscapedStream(sys.stdout)
    if sys.stderr is not None:
        sys.stderr = EscapedStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def print_json(content: object) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def warn(message: str) -> None:
    sys.stderr.write("regard: " + message.replace("\n", " ") + "\n")
