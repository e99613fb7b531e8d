"""A verdict as text: lines for a terminal, with or without colour, never wider than it."""

import re
import textwrap
from collections.abc import Iterable

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.learner_progress import LearnerProgress
from regard.course.verdict import Verdict

COLOURS = {"green": "32", "red": "31", "yellow": "33", "blue": "36", "bold": "1", "faint": "2"}
MARKS = {
    "passed": "✓",
    "unstable": "≈",
    "failed": "✗",
    "unfinished": "·",
    "broken": "!",
    "stopped": "!",
    "missing": "?",
}
SHADES = {"passed": "green", "unstable": "yellow", "unfinished": "blue"}
ASCII = str.maketrans(
    {
        "✓": "v",
        "≈": "~",
        "✗": "x",
        "·": ".",
        "→": ">",
        "█": "#",
        "░": "-",
        "…": ".",
        "–": "-",
        "←": "<",
        "↑": "^",
        "×": "x",
        "■": "#",
        "□": "-",
    }
)

ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?")
LONG = 16
"""Lines of a verdict after which its headline is repeated at the end."""
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Paint:
    """Colour where it is wanted; the same text without."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, *styles: str) -> str:
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(COLOURS[style] for style in styles)}m{text}\x1b[0m"


def verdict_lines(entry: ExerciseEntry, verdict: Verdict, paint: Paint, width: int = 80) -> list[str]:
    """Headline, what was seen, the advice, what the file printed."""
    shade = SHADES.get(verdict.status, "red")
    title = f"{MARKS[verdict.status]} {entry.number} {entry.title}"
    lines = [paint(title, shade, "bold")]
    lines += _wrapped(verdict.headline, width, "  ")
    if verdict.check and verdict.status != "unfinished":
        lines += [paint(line, "faint") for line in _wrapped(f"(check: {verdict.check})", width, "  ")]
    if verdict.details:
        lines += ["", *(part for line in verdict.details for part in fold("    " + visible(line), width))]
    if verdict.advice:
        lines += ["", *(paint(line, "yellow") for line in _wrapped("→ " + verdict.advice, width, "  "))]
    for note in verdict.notes:
        lines += _wrapped(note, width, "  ")
    if verdict.printed.strip():
        printed = verdict.printed.rstrip().splitlines()
        lines += [
            "",
            paint("  your file printed:", "faint"),
            *(part for line in printed[:8] for part in fold("    " + visible(line), width)[:3]),
        ]
        if len(printed) > 8:
            lines.append(f"    … {len(printed) - 8} more lines")
    if verdict.passed:
        lines.append(paint(f"  {verdict.checks} assertions in {verdict.seconds:.1f} s", "faint"))
    if len(lines) > LONG and not verdict.passed:
        lines += ["", *headline_lines(verdict, paint, width)]
    return lines


def headline_lines(verdict: Verdict, paint: Paint, width: int) -> list[str]:
    """The headline alone, for the end of a long output."""
    shade = SHADES.get(verdict.status, "red")
    return [paint(line, shade) for line in _wrapped(f"{MARKS[verdict.status]} {verdict.headline}", width, "")]


def progress_line(progress: LearnerProgress, paint: Paint, width: int = 80) -> str:
    """`Progress ████████░░░░░░░░  8/17`."""
    total = len(entries())
    done = sum(entry.name in progress.passed for entry in entries())
    room = max(8, min(40, width - 24))
    filled = round(room * done / total)
    return f"Progress {paint('█' * filled, 'green')}{'░' * (room - filled)} {done}/{total}"


def list_lines(progress: LearnerProgress, paint: Paint) -> list[str]:
    """The table of exercises: a tick, the number, where the learner is."""
    lines = []
    for entry in entries():
        done = entry.name in progress.passed
        here = " ←" if entry.name == progress.current_entry().name else ""
        mark = paint("✓", "green") if done else " "
        tries = progress.attempts.get(entry.name, 0)
        tried = paint(f"  {tries} {'try' if tries == 1 else 'tries'}", "faint") if tries else ""
        lines.append(f" {mark} {entry.number:>2}  {entry.title:<36} {entry.needs:<5}{tried}{here}")
    return lines


def plain(lines: Iterable[str], encoding: str | None) -> str:
    """One text; signs that the terminal's encoding lacks become ASCII."""
    text = "\n".join(lines)
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = text.translate(ASCII).encode("ascii", errors="replace").decode()
    return text


def visible(text: str) -> str:
    """Text without control characters: a learner's file may print those that move the cursor or change colours."""
    return UNSEEN.sub("", ESCAPES.sub("", text.expandtabs(4).replace("\n", " ")))


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    room = max(20, width - 1)
    text = visible(text)
    return textwrap.wrap(text, room, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) or [""]


def fold(line: str, width: int) -> list[str]:
    """A line of code or numbers on as many lines as it needs, broken at spaces where there are any; nothing is cut."""
    room = max(20, width - 1)
    parts = []
    indent = len(line) - len(line.lstrip()) + 4
    while len(line) > room:
        at = line.rfind(" ", room // 2, room)
        at = at if at > 0 else room
        parts.append(line[:at])
        line = " " * min(indent, room // 2) + line[at:].lstrip(" ")
    return [*parts, line]


def fold_code(line: str, width: int) -> list[str]:
    """A line of Python that stays Python: a long comment goes above it, and it is broken inside brackets only."""
    room = max(20, width - 1)
    code, mark, comment = line.partition("  # ")
    if len(line) <= room or not code.strip():
        return fold(line, width)
    indent, code = " " * (len(line) - len(line.lstrip())), code.rstrip()
    note = textwrap.wrap(comment.strip(), room, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")
    parts, start, lead = note if mark else [], 0, ""
    while len(lead) + len(code) - start > room:
        reach = range(start + 1, start + room - len(lead))
        places = [at for at in reach if code[at] == " " and _inside_brackets(code[:at])]
        if not places:
            break
        parts.append(lead + code[start : places[-1]])
        start, lead = places[-1] + 1, f"{indent}        "
    return [*parts, *fold(lead + code[start:], width)]


def _inside_brackets(code: str) -> bool:
    quoted = code.count('"') % 2 or code.count("'") % 2
    return not quoted and sum(map(code.count, "([{")) > sum(map(code.count, ")]}"))
