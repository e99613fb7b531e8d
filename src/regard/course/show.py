"""Numbers for people: small arrays as rows with little bars, the place where two differ marked."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.answer_parts import Leaf

BARS = "▁▂▃▄▅▆▇█"
MOST_COLUMNS = 8
MOST_ROWS = 4
MOST_LETTERS = 20


def yours_and_wanted(yours: Leaf, wanted: Leaf) -> list[str]:
    """Both answers, one above the other; of a large array the row with the largest error."""
    if yours.kind != wanted.kind or not isinstance(wanted.value, ndarray):
        rounded = _short(yours, "{:.6g}"), _short(wanted, "{:.6g}")
        texts = rounded if rounded[0] != rounded[1] else (_short(yours), _short(wanted))
        return [f"yours   {texts[0]}", f"wanted  {texts[1]}"]
    if yours.value.shape != wanted.value.shape or not _drawable(yours.value, wanted.value):
        return [
            f"yours   {_shape_text(yours.value)}",
            *_rows(yours.value, "        "),
            f"wanted  {_shape_text(wanted.value)}",
            *_rows(wanted.value, "        "),
        ]
    mine, want = np.atleast_1d(yours.value), np.atleast_1d(wanted.value)
    low, high = _range(mine, want)
    lines: list[str] = []
    for place in _worst_rows(mine, want):
        label = "" if mine.ndim == 1 or mine.size == mine.shape[-1] else f"   [{', '.join(str(one) for one in place)}]"
        first = _first_column(mine[place], want[place])
        lines.append(f"yours   {_row(mine[place], low, high, first)}{label}")
        lines.append(f"wanted  {_row(want[place], low, high, first)}")
        lines.append(_marks(mine[place], want[place], first))
    return [line for line in lines if line.strip()]


def arguments_lines(arguments: Mapping[str, Any]) -> list[str]:
    """The input of a call: arrays as rows, other things in a word."""
    width = max((len(name) for name in arguments), default=0)
    lines: list[str] = []
    for name, value in arguments.items():
        array = _array(value)
        if array is None:
            text = repr(value)
            lines.append(
                f"{name:<{width}}  {text if len(text) <= 60 and chr(10) not in text else type(value).__name__}"
            )
            continue
        rows = [] if array.ndim < 3 else [f"shape {list(array.shape)}"]
        rows += _rows(array, "")
        head = f"{name:<{width}}  "
        lines.append(head + rows[0])
        lines.extend(" " * len(head) + row for row in rows[1:])
    return lines


def _drawable(*arrays: ndarray) -> bool:
    """Whether all of them hold plain numbers: bars cannot be drawn of text or of complex numbers."""
    return all(array.dtype.kind in "biuf" for array in arrays)


def _array(value: Any) -> ndarray | None:
    if isinstance(value, ndarray):
        return value
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return np.asarray(value.detach().cpu().numpy())
    return None


def _short(leaf: Leaf, digits: str = "{!r}") -> str:
    """A value in a word; NumPy's own numbers as plain ones, because their type is no mistake."""
    if isinstance(leaf.value, ndarray):
        return f"a {leaf.kind} of {_shape_text(leaf.value)}"
    if leaf.kind == "nothing":
        return "None"
    if isinstance(leaf.value, float):
        return digits.format(leaf.value)
    text = repr(leaf.value) if leaf.value is not None else f"a {leaf.kind}"
    text = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)
    return text if len(text) <= 100 else text[:97] + "..."


def _shape_text(array: ndarray) -> str:
    return f"shape {list(array.shape)}"


def _rows(array: ndarray, indent: str) -> list[str]:
    if array.size == 0:
        return [f"{indent}(empty, {_shape_text(array)})"]
    table = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    rows = [
        indent + _numbers(row[:MOST_COLUMNS]) + (" …" if len(row) > MOST_COLUMNS else "") for row in table[:MOST_ROWS]
    ]
    if len(table) > MOST_ROWS:
        rows.append(f"{indent}… {len(table)} rows, shape {list(array.shape)}")
    return rows


def _numbers(row: ndarray) -> str:
    return " ".join(f"{number(value):>7}" for value in row)


def number(value: Any) -> str:
    """Seven characters at most: 0.25, -3, 1e+30, nan."""
    if isinstance(value, bool | np.bool_):
        return "True" if value else "False"
    if not isinstance(value, float | np.floating):
        return str(value)[:MOST_LETTERS]
    value = float(value)
    if not np.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e5:
        return str(int(value))
    if abs(value) < 1e-3 or abs(value) >= 1e4:
        return f"{value:.0e}"
    return f"{value:.3f}"


def _range(mine: ndarray, want: ndarray) -> tuple[float, float]:
    both = np.concatenate([mine.ravel(), want.ravel()]).astype(float)
    finite = both[np.isfinite(both)]
    if not finite.size:
        return 0.0, 1.0
    return min(0.0, float(finite.min())), max(float(finite.max()), float(finite.min()) + 1e-12)


def _row(row: ndarray, low: float, high: float, first: int) -> str:
    part = row[first : first + MOST_COLUMNS]
    more = " …" if len(row) > first + MOST_COLUMNS else ""
    return f"{'… ' if first else ''}{_numbers(part)}{more}   {bars(part, low, high)}"


def bars(row: ndarray, low: float, high: float) -> str:
    """One block for each number; `?` for what is not finite."""
    blocks = []
    for value in row.astype(float):
        if not np.isfinite(value):
            blocks.append("?")
        else:
            blocks.append(BARS[int(np.clip((value - low) / (high - low) * 7.999, 0, 7))])
    return "".join(blocks)


def _errors(mine: ndarray, want: ndarray) -> ndarray:
    with np.errstate(all="ignore"):
        gaps = np.abs(mine.astype(float) - want.astype(float))
    return np.asarray(np.nan_to_num(gaps, nan=np.inf, posinf=np.inf))


def _worst_rows(mine: ndarray, want: ndarray) -> list[tuple[int, ...]]:
    rows = list(np.ndindex(mine.shape[:-1]))
    if len(rows) <= 2:
        return rows
    errors = _errors(mine, want).reshape(len(rows), -1).max(axis=1)
    return [rows[int(np.argmax(errors))]]


def _first_column(mine: ndarray, want: ndarray) -> int:
    if len(mine) <= MOST_COLUMNS:
        return 0
    worst = int(np.argmax(_errors(mine, want)))
    return max(0, min(worst - MOST_COLUMNS // 2, len(mine) - MOST_COLUMNS))


def _marks(mine: ndarray, want: ndarray, first: int) -> str:
    errors = _errors(mine, want)[first : first + MOST_COLUMNS]
    scale = 1e-6 * (1 + np.abs(np.nan_to_num(want[first : first + MOST_COLUMNS].astype(float), posinf=0, neginf=0)))
    marks = " ".join(f"{'^' if bad else '':>7}" for bad in errors > scale)
    return ("        " + ("  " if first else "") + marks).rstrip()
