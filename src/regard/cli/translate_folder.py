"""`regard translate --engine`: the files of a folder or a pattern, part by part, into a folder."""

from pathlib import Path
from typing import Any

from regard.bounds import MOST
from regard.cli.escape import warn
from regard.cli.screen import progress
from regard.lab.bulk.run_bulk import REFUSED, Bulk, BulkSummary, translate_bulk
from regard.text.input_error import InputError


def translate_folder(
    engine: str,
    workers: int | None,
    gpus: float | None,
    paths: tuple[Path, Path | None, Path | None],
    about: dict[str, Any],
    others: dict[str, Any],
) -> None:
    """`paths` are model, input and output; `others` are options that an engine does not take."""
    if engine == "local":
        others = {**others, "--workers": workers, "--gpus-per-worker": gpus}
    if wrong := [name for name, given in others.items() if given]:
        raise InputError(f"--engine {engine} translates files and does not take {', '.join(wrong)}: leave it out")
    if not 0 <= (gpus or 0) <= MOST["threads"]:
        raise InputError(f"--gpus-per-worker {gpus}: expected 0 to {MOST['threads']:,}")
    bundle, read, written = paths
    if read is None or written is None:
        raise InputError("--engine needs --input (a folder or a pattern in quotes) and --output (a new folder)")
    bulk = Bulk(str(bundle), str(read), str(written), **about)
    try:
        with progress("translating", None) as advance:
            done = translate_bulk(
                bulk, engine, workers=workers or 2, gpus=gpus or 0.0, progress=advance,
                waits=lambda: warn(f"another process writes to {written}: waiting until it ends"),
            )  # fmt: skip
    except KeyboardInterrupt:
        warn(f"the finished parts are in {written}; the same command translates the missing ones")
        raise
    _report(done, written)
    if done.refused:
        raise InputError(
            f"{_count(len(done.refused), 'file was', 'files were')} not translated completely, listed in "
            f"{written / REFUSED}; the first: {next(iter(done.refused.values()))}"
        )


def _report(done: BulkSummary, written: Path) -> None:
    files = _count(done.files - len(done.refused), "file")
    if done.finished_before == done.parts:
        warn(f"all parts of {files} were finished before: nothing was translated")
    else:
        warn(
            f"{_count(done.rows, 'row')} of {files} in {done.seconds:,.1f} s ({done.rows_per_second:,.0f} a second, "
            f"workers: {done.workers}); {done.finished_before:,} of {_count(done.parts, 'part')} finished before"
        )
    listed = f"part-*.bad.jsonl in {written} list them with the reason"
    if done.bad:
        warn(f"{_count(done.bad, 'row has', 'rows have')} no translation: {listed}")
    if done.cut:
        rows = _count(done.cut, "row was", "rows were")
        warn(f"{rows} cut (text longer than the model reads, or translation without an end): {listed}")


def _count(number: int, one: str, more: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
