"""`Worker` translates batches of rows, for any engine that maps dicts of arrays: Ray Data, Spark, datasets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.bounds import MOST, cut
from regard.registry import Precision
from regard.runtime.translation import Translation
from regard.runtime.translator import load
from regard.text.input_error import InputError

WRITTEN = ("translation", "score", "alignment", "cut", "warning", "error")
"""The columns that a worker adds."""
Row = tuple[str, float, str, bool, str, str]
"""Their values in one row."""


@dataclass(frozen=True)
class NoText:
    """Stands for the text of a row that has none, with the reason."""

    reason: str


class Worker:
    """Adds the translations of one column; a row that cannot be translated gets the reason in `error`.

    Example:
        worker = regard.runtime.Worker("en-fr")
        worker({"text": np.array(["Good morning.", None], dtype=object)})["translation"]     # ['Bonjour.', '']

    Rows keep their order and are decoded sorted by length. `alignment` holds word links as `0-0 1-2`, counted from 0;
    `cut` is True where a text is longer than the model reads, or a translation was cut before its end. A blank
    text has a blank translation and no error.
    """

    def __init__(
        self,
        bundle: str | Path | Sequence[str | Path],
        *,
        column: str = "text",
        device: str | torch.device = "cpu",
        precision: Precision = "float32",
        trust: Collection[str] = (),
        **search: Any,
    ) -> None:
        self.column, self.search = column, search
        self.translator = load(bundle, device, precision=precision, trust=trust)
        self.translator.search_config(search)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if self.column not in batch:
            raise InputError(f"no column '{self.column}': the batch has {', '.join(map(repr, batch)) or 'none'}")
        if taken := [name for name in WRITTEN if name in batch]:
            raise InputError(f"the batch already has a column '{taken[0]}', which the worker adds: rename it")
        rows = list(batch[self.column])
        errors = [complain(row) for row in rows]
        found = self._translate([row for row, error in zip(rows, errors, strict=True) if error is None])
        done = [
            self._row(row, next(found)) if error is None else untranslated(error)
            for row, error in zip(rows, errors, strict=True)
        ]
        kinds = (object, np.float64, object, np.bool_, object, object)
        added: dict[str, Any] = {
            name: np.array([one[index] for one in done], dtype=kind)
            for index, (name, kind) in enumerate(zip(WRITTEN, kinds, strict=True))
        }
        return {**batch, **added}

    def _translate(self, texts: list[str]) -> Any:
        """The translation of each text, or the reason why there is none."""
        try:
            return iter(self.translator.translate(texts, **self.search))
        except InputError:
            return (self._alone(text) for text in texts)

    def _alone(self, text: str) -> Translation | str:
        try:
            found: Translation = self.translator.translate(text, **self.search)
        except InputError as error:
            return str(error)
        return found

    def _row(self, text: str, found: Translation | str) -> Row:
        if isinstance(found, str):
            return untranslated(found)
        if text.strip() and not found.text:  # the model knows no letter of it, or wrote nothing
            return untranslated("; ".join(found.warnings) or "no text")
        links = " ".join(f"{source}-{target}" for source, target in sorted(found.alignment))
        return found.text, found.score, links, found.source_cut or not found.finished, "; ".join(found.warnings), ""


def untranslated(error: str) -> Row:
    """The columns of a row without a translation."""
    return "", np.nan, "", False, "", error


def complain(row: object) -> str | None:
    """Why this value cannot be translated, or None."""
    if isinstance(row, NoText):
        return row.reason
    if not isinstance(row, str):
        return f"{'nothing' if row is None else type(row).__name__}, expected text"
    if len(row) > MOST["line"]:
        return f"{len(row):,} characters, at most {MOST['line']:,} are read"
    try:
        row.encode()
    except UnicodeEncodeError as error:
        return f"not valid Unicode at character {error.start}: {cut(ascii(row), 60)}"
    return None
