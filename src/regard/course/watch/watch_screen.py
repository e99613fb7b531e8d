"""The output of watch mode: a terminal that is cleared for each picture, or plain lines one after the other."""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import TextIO

from regard.course.verdict_text import Paint, fold_code, plain

CLEAR = "\x1b[H\x1b[2J"


class Screen:
    """The properties of the output: colour, clearing, its present width."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        self.terminal = self.stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.paint = Paint(self.terminal and not os.environ.get("NO_COLOR"))

    @property
    def width(self) -> int:
        """Read again for each picture, because terminals are resized."""
        if not self.stream.isatty():
            return 100
        return max(20, shutil.get_terminal_size().columns)

    @property
    def height(self) -> int | None:
        """None if the output is not a terminal: a page may have any length."""
        return shutil.get_terminal_size().lines if self.terminal else None

    def draw(self, lines: Iterable[str]) -> None:
        """Replace the picture; in a pipe, add to what was written."""
        text = plain(lines, self.stream.encoding)
        self.stream.write(f"{CLEAR}{text}\n" if self.terminal else f"{text}\n\n")
        self.stream.flush()

    def say(self, line: str) -> None:
        """One more line below the picture."""
        self.stream.write(plain([line], self.stream.encoding) + "\n")
        self.stream.flush()


def markdown_lines(text: str, paint: Paint, width: int) -> list[str]:
    """A page of markdown for the terminal: paragraphs fitted to the width, pictures and code left alone."""
    lines: list[str] = []
    paragraph: list[str] = []
    fenced = False

    def finish() -> None:
        if paragraph:
            item = paragraph[0].startswith("- ")
            fitted = textwrap.wrap(
                " ".join(part.strip() for part in paragraph),
                max(20, width - 2),
                subsequent_indent="  " if item else "",
                break_on_hyphens=False,
            )
            lines.extend(_styled(line, paint) for line in fitted)
            paragraph.clear()

    for line in text.splitlines():
        if line.startswith("```"):
            finish()
            fenced = not fenced
        elif fenced or line.startswith("    "):
            finish()
            lines.extend(paint(part, "blue") for part in fold_code(line, width))
        elif not line.strip():
            finish()
            lines.append("")
        elif line.startswith("#"):
            finish()
            lines.append(paint(line.lstrip("# "), "bold"))
        else:
            if line.startswith("- "):
                finish()
            paragraph.append(line)
    finish()
    return lines


def _styled(line: str, paint: Paint) -> str:
    """Bold and code marks become styles, and vanish where there is no colour."""
    line = re.sub(r"\*\*(.+?)\*\*", lambda found: paint(found.group(1), "bold"), line)
    return re.sub(r"(?<!\w)\*(\w[^*]*)\*", r"\1", line)
