"""`regard translate --engine`: the files of a folder or a pattern, part by part, into a folder."""

from pathlib import Path
from typing import Any

from regard.cli.screen import progress, warn
from regard.lab.bulk.run_bulk import Bulk, translate_bulk
from regard.text.input_error import InputError


def translate_folder(
    engine: str,
    workers: int,
    gpus: float,
    paths: tuple[Path, Path | None, Path | None],
    about: dict[str, Any],
    others: dict[str, Any],
) -> None:
    """`paths` are model, input and output; `others` are options that an engine does not take."""
    if wrong := [name for name, given in others.items() if given]:
        raise InputError(f"--engine translates files and does not take {', '.join(wrong)}: leave it out")
    bundle, read, written = paths
    if read is None or written is None:
        raise InputError("--engine needs --input (a folder or a pattern in quotes) and --output (a new folder)")
    bulk = Bulk(str(bundle), str(read), str(written), **about)
    with progress("translating", None) as advance:
        done = translate_bulk(bulk, engine, workers=workers, gpus=gpus, progress=advance)
    if done.finished_before == done.parts:
        warn(f"all {done.parts:,} parts of {done.files:,} files were finished before: nothing was translated")
        return
    warn(
        f"{done.rows:,} rows of {done.files:,} files in {done.seconds:,.1f} s ({done.rows_per_second:,.0f} a second, "
        f"workers: {done.workers}); {done.finished_before:,} of {done.parts:,} parts were finished before"
    )
    if done.bad:
        warn(f"{done.bad:,} rows have no translation: part-*.bad.jsonl in {written} list them with the reason")
