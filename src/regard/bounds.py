"""Upper limits on what recipes, options and files may request, in the table bounds.toml; imports nothing of ours.

docs/bounds.md shows the same table; `python -c "from regard.bounds import table; print(table())"` prints it.
"""

import tomllib
from pathlib import Path
from reprlib import Repr
from typing import Any, Final

_TABLE: Final[dict[str, tuple[int, str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
MOST: Final[dict[str, int]] = {name: most for name, (most, _) in _TABLE.items()}


def table() -> str:
    """The table in Markdown."""
    rows = (f"| {name} | {most:,} | {what} |" for name, (most, what) in _TABLE.items())
    return "\n".join(("| name | at most | applies to |", "|---|---|---|", *rows))


def excerpt(value: object) -> str:
    """The `repr` of a value, shortened for a message."""
    return cut(_EXCERPT.repr(value), MOST["quoted"])


def cut(text: str, most: int = 2 * MOST["quoted"]) -> str:
    """The text, shortened with … if it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_middle(text: str) -> str:
    """A long message without its middle: the problem is at its beginning and the remedy at its end."""
    most, end = MOST["message"], MOST["message"] // 4
    return text if len(text) <= most else f"{text[: most - end - 3]} … {text[-end:]}"


class _Excerpt(Repr):
    """Describes large integers by their number of digits: Python raises for those of more than 4,300."""

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() < 128 else f"a number of about {int(x.bit_length() * 0.30103):,} digits"

    def repr_instance(self, x: Any, level: int) -> str:
        return cut(super().repr_instance(x, level), self.maxother)


_EXCERPT = _Excerpt()
_EXCERPT.maxstring = _EXCERPT.maxother = MOST["quoted"]
