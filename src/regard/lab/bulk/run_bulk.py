"""`regard translate --engine`: translates the files of a folder in one process or with Ray Data, resumable."""

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from regard.bundle.bundle_folder import CannotWrite, explaining
from regard.bundle.find import find_bundle
from regard.bundle.manifest import NAME as MANIFEST
from regard.files import locked, write_whole
from regard.lab.bulk.parts import ROWS, Part, count_listed, plan_parts, read_part, write_part
from regard.lab.bulk.ray_cluster import connect
from regard.lab.bulk.record import RECORD, check_record, holds_record, write_record
from regard.reading_files import read_regular
from regard.registry import Precision
from regard.runtime.row_worker import Worker
from regard.text.input_error import InputError

REFUSED = "bulk.bad.jsonl"
"""Lists the files that were not translated, or not completely, with the reason."""
ENGINES = ("local", "ray")
BLOCKS = 1_000
"""Ray schedules blocks of parts; a part that was finished before a worker died is not translated again."""


@dataclass(frozen=True)
class Bulk:
    """The request: input, model, output folder and options."""

    bundle: str
    inputs: str
    """A file, a folder or a pattern such as news/*.jsonl."""
    output: str
    column: str | None = None
    """The column of the text (default: `text`, or 1 for TSV)."""
    device: str = "cpu"
    precision: Precision = "float32"
    trust: tuple[str, ...] = ()
    search: dict[str, Any] = field(default_factory=dict)
    rows: int = ROWS


@dataclass(frozen=True)
class FinishedPart:
    """One finished part, or the reason why it cannot be read."""

    file: str
    rows: int = 0
    refused: str = ""
    stopped: str = ""
    """Why no part can be finished, for example a full disk."""
    wrong_use: bool = False
    """Whether it stopped because of the request, for example options that contradict each other."""


@dataclass(frozen=True)
class BulkSummary:
    """The metrics of a run; `rows` leaves out the parts that were finished before, `bad` and `cut` include them."""

    files: int
    parts: int
    finished_before: int
    rows: int
    bad: int
    """Rows without a translation."""
    cut: int
    """Rows whose text is longer than the model reads, or whose translation was cut before its end."""
    seconds: float
    workers: int
    refused: dict[str, str]
    """The files that were not translated completely, with the reason."""

    @property
    def rows_per_second(self) -> float:
        return self.rows / max(self.seconds, 1e-9)


def translate_bulk(
    bulk: Bulk,
    engine: str = "local",
    *,
    workers: int = 1,
    gpus: float = 0.0,
    progress: Callable[[int], None] = lambda rows: None,
    waits: Callable[[], None] = lambda: None,
) -> BulkSummary:
    """Translate what is not finished yet; `progress` is called with the number of rows done.

    `waits` is called if another process writes into the same folder.
    """
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}': valid choices are {', '.join(ENGINES)}")
    find_bundle(bulk.bundle)
    folder = Path(bulk.output)
    files = find_inputs(bulk.inputs, folder)
    with explaining(folder), ExitStack() as lock:
        folder.mkdir(parents=True, exist_ok=True)
        lock.enter_context(locked(folder / f".{RECORD}.lock", waits))
        parts, refused = _plan(bulk, folder, files)
        readable = {file: name for file, name in files.items() if str(file) not in refused}
        record = check_record(folder, _made_with(bulk), readable)
        left = [part for part in parts if not part.place.exists()]
        start, rows = time.perf_counter(), 0
        run = partial(_by_ray, workers=workers, gpus=gpus) if engine == "ray" else _in_this_process
        for done in run(bulk, left) if left else ():
            rows += done.rows
            if done.refused:
                refused.setdefault(done.file, done.refused)
            progress(rows)
        seconds = round(time.perf_counter() - start, 2)
        _list_refused(folder / REFUSED, refused)
        counts = count_listed(folder)
        write_record(folder, {**record, **counts})
    used = min(workers if engine == "ray" else 1, len(left))
    return BulkSummary(len(files), len(parts), len(parts) - len(left), rows, **counts, seconds=seconds, workers=used,
                       refused=refused)  # fmt: skip


def _plan(bulk: Bulk, folder: Path, files: dict[Path, str]) -> tuple[list[Part], dict[str, str]]:
    """The parts of all files, and the files that cannot be translated, with the reason; raises if none can."""
    parts, refused = list[Part](), dict[str, str]()
    for file, name in files.items():
        try:
            if name in (RECORD, REFUSED):
                raise InputError(f"{file} has the name of a file that regard writes: rename it")
            planned = plan_parts(file, folder / name, bulk.rows, bulk.column)
            _check_column(bulk, planned)
        except OSError as error:
            refused[str(file)] = f"cannot read {file}: {error.strerror}"
        except InputError as error:
            refused[str(file)] = str(error)
        else:
            parts += planned
    if len(refused) == len(files):
        more = f" ({len(files) - 1:,} more files cannot be translated either)" if len(files) > 1 else ""
        raise InputError(next(iter(refused.values())) + more)
    return parts, refused


def _list_refused(place: Path, refused: dict[str, str]) -> None:
    if refused:
        lines = [json.dumps({"file": file, "error": error}, ensure_ascii=False) for file, error in refused.items()]
        write_whole(place, "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))
    else:
        place.unlink(missing_ok=True)


def find_inputs(pattern: str, output: Path) -> dict[Path, str]:
    """The files, each with its own folder name below the output, so that files of the same name do not collide."""
    root = Path(pattern)
    if root.is_file():
        return {root: root.name}
    base = root if root.is_dir() else Path(*_before_pattern(root))
    wanted = "**/*" if root.is_dir() else str(root.relative_to(base))
    try:
        found = [*base.glob(wanted)] if base.is_dir() else []
    except ValueError as error:
        raise InputError(f"{pattern} is no pattern of files: {error}") from None
    every = sorted(path for path in found if path.is_file() and not path.name.startswith("."))
    below = {folder for path in every for folder in path.parents if base in folder.parents}
    outputs = {output.resolve(), *(folder.resolve() for folder in below if holds_record(folder))}
    files = [path for path in every if outputs.isdisjoint(path.resolve().parents)]
    if every and not files:
        raise InputError(f"the output folder {output} holds the input files: name another --output")
    if not files:
        raise InputError(f"no file at {pattern}: name a file, a folder, or a pattern in quotes such as 'news/*.jsonl'")
    return {path: str(path.relative_to(base)) for path in files}


def _before_pattern(path: Path) -> Iterator[str]:
    for part in path.parts[:-1]:
        if any(mark in part for mark in "*?["):
            return
        yield part


def _made_with(bulk: Bulk) -> dict[str, Any]:
    """Model and settings, which all translations of an output folder share."""
    model = hashlib.sha256(read_regular(find_bundle(bulk.bundle) / MANIFEST)).hexdigest()
    settings = {"column": bulk.column, "precision": bulk.precision, "search": bulk.search, "rows": bulk.rows}
    return {"model": model, **settings}


def _check_column(bulk: Bulk, parts: list[Part]) -> None:
    """Raise, before anything is translated, for a column that the first rows of a file do not have."""
    for part in parts[:1]:
        for chunk in read_part(part):
            column = column_of(bulk, part)
            if column not in chunk.columns:
                names = ", ".join(map(repr, chunk.columns)) or "none"
                about = " (in TSV, a number from 1 or a name in its first line)" if part.kind == "tsv" else ""
                raise InputError(f"{part.file} has no column '{column}', it has {names}: name one with --column{about}")
            try:
                chunk.texts(column)
            except InputError as error:
                raise InputError(f"{part.file}: {error}") from None
            return


def column_of(bulk: Bulk, part: Part) -> str:
    """The column of a part that is translated."""
    if part.kind == "text":
        return "text"
    return bulk.column or ("1" if part.kind == "tsv" else "text")


class PartWorker:
    """Loads the model once and translates parts."""

    def __init__(self, bulk: Bulk) -> None:
        if bulk.device == "cpu":
            torch.set_num_threads(1)
        about: dict[str, Any] = {"device": bulk.device, "precision": bulk.precision, "trust": bulk.trust}
        self.bulk, self.worker = bulk, Worker(bulk.bundle, **about, **bulk.search)

    def translate(self, part: Part) -> FinishedPart:
        column = column_of(self.bulk, part)
        translated = ((chunk, self.worker({"text": chunk.texts(column)})) for chunk in read_part(part))
        try:
            return FinishedPart(part.file, write_part(part, translated))
        except InputError as error:
            return FinishedPart(part.file, refused=str(error))


class RayWorker:
    """Ray calls it with batches of the fields of parts. An error is returned: Ray would add its own traces to it."""

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk
        self._worker: PartWorker | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        done = [asdict(self._finish(Part(**json.loads(one)))) for one in batch["part"]]
        return {name: [one[name] for one in done] for name in FinishedPart.__dataclass_fields__}

    def _finish(self, part: Part) -> FinishedPart:
        if part.place.exists():
            return finished(part)
        try:
            self._worker = self._worker or PartWorker(self._bulk)
            with explaining(Path(self._bulk.output)):
                return self._worker.translate(part)
        except InputError as error:
            return FinishedPart(part.file, stopped=str(error), wrong_use=not isinstance(error, CannotWrite))


def finished(part: Part) -> FinishedPart:
    """The record of a part that a worker wrote but, because it died, did not report."""
    return FinishedPart(part.file, sum(len(chunk.texts("")) for chunk in read_part(part)))


def _in_this_process(bulk: Bulk, parts: Iterable[Part]) -> Iterator[FinishedPart]:
    worker = PartWorker(bulk)
    yield from map(worker.translate, parts)


def _by_ray(bulk: Bulk, parts: list[Part], *, workers: int, gpus: float) -> Iterator[FinishedPart]:
    if find_spec("ray") is None:
        raise InputError("the engine ray needs Ray: pip install 'regard[bulk]'")
    if (gpus > 0) != bulk.device.startswith("cuda"):
        raise InputError(f"--device {bulk.device} with --gpus-per-worker {gpus:g}: give both or none, as in "
                         "--device cuda --gpus-per-worker 1")  # fmt: skip
    started = connect(workers)
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        if started and "RAY_ADDRESS" not in os.environ and gpus > (known := resources.get("GPU", 0)):
            raise InputError(f"a worker needs {gpus:g} GPUs, this machine has {known:g}: leave --gpus-per-worker out")
        items = [{"part": json.dumps(asdict(part))} for part in parts]
        pool = ray.data.ActorPoolStrategy(size=min(workers, len(parts)))
        options: dict[str, Any] = {"num_gpus": gpus} if gpus else {"num_cpus": 1}
        dataset = ray.data.from_items(items, override_num_blocks=min(len(items), BLOCKS)).map_batches(
            RayWorker, fn_constructor_args=(bulk,), batch_size=1, compute=pool, **options
        )
        for row in dataset.iter_rows():
            done = FinishedPart(**{name: row[name] for name in FinishedPart.__dataclass_fields__})
            if done.stopped:
                raise (InputError if done.wrong_use else CannotWrite)(done.stopped)
            yield done
    finally:
        if started:
            ray.shutdown()
