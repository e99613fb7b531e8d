"""Power loss: replays the file operations of a run up to any moment, without what was not synced, and resumes.

The model of the disk: operations on names (create, truncate, mkdir, rename, remove) reach it in their order, at the
latest when the folder of a later one is synced; the bytes of a file reach it at the latest when that file is synced. Of
what was not synced, a power loss keeps any part.
"""

import copy
import os
import pickle
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import torch

from chaos.operations import Operation, watch
from regard.bundle.manifest import FileEntry
from regard.bundle.store import load_bundle
from regard.training import training_loop
from regard.training.checkpoint import load_checkpoint
from regard.training.journal import read_journal
from regard.training.run import train
from training.stopped import RECIPE, compare

SAVED = "saved"
"""Kind of the operation that marks the end of writing a checkpoint; its offset is the step."""
RESUMED = 10
"""Every so many images a run is resumed to its end."""


@dataclass
class File:
    """Bytes that are certainly on the disk, and writes that may be."""

    synced: bytes = b""
    pending: list[tuple[int, bytes]] = field(default_factory=list)

    def content(self, kept: int, torn: bool = False) -> bytes:
        """The bytes with the first pending writes applied; `torn`: only half of the last one."""
        data = bytearray(self.synced)
        for number, (offset, piece) in enumerate(self.pending[:kept], start=1):
            half = piece[: len(piece) // 2] if torn and number == kept else piece
            data[len(data) :] = bytes(max(0, offset - len(data)))
            data[offset : offset + len(half)] = half
        return bytes(data)


Tree = dict[str, File | None]
"""Every path with its file; None for a folder."""


class Disk:
    """The names in memory (`now`), and the changes of names that are not certainly on the disk yet."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.now: Tree = {}
        self.states: list[tuple[Tree, set[str]]] = [({}, set())]
        """The names after each change that may be lost, the certain ones first; with the folders it changed."""

    def apply(self, operation: Operation) -> None:
        path, now = os.path.relpath(operation.path, self.root), self.now
        file = now.get(path)
        if operation.kind == "create":
            if (path not in now and path != ".") or (operation.truncates and file is not None):
                now[path] = File()
                self._changed(path)
        elif operation.kind == "write" and file is not None:
            file.pending.append((operation.offset, operation.data))
        elif operation.kind == "fsync":
            self._sync(path)
        elif operation.kind == "mkdir" and path not in now:
            now[path] = None
            self._changed(path)
        elif operation.kind in ("remove", "rmdir") and path in now:
            del now[path]
            self._changed(path)
        elif operation.kind == "rename" and path in now:
            other = os.path.relpath(operation.other, self.root)
            for name in [one for one in now if one == path or one.startswith(f"{path}/")]:
                now[other + name[len(path) :]] = now.pop(name)
            self._changed(path, other)

    def _changed(self, *paths: str) -> None:
        self.states.append((dict(self.now), {os.path.dirname(path) or "." for path in paths}))

    def _sync(self, path: str) -> None:
        file = self.now.get(path)
        if file is not None:
            file.synced, file.pending = file.content(len(file.pending)), []
            return
        last = max((number for number, (_, folders) in enumerate(self.states) if path in folders), default=0)
        del self.states[:last]

    def lose_power(self, random: Random, most: bool) -> dict[str, bytes | None]:
        """What is on the disk after it: as little as may be (`most` is lost), or any part."""
        names = self.states[0 if most else random.randrange(len(self.states))][0]
        kept = {id(file): 0 if most else random.randint(0, len(file.pending)) for file in names.values() if file}
        return {
            path: None if file is None else file.content(kept[id(file)], torn=random.random() < 0.5)
            for path, file in names.items()
        }


def record(folder: Path, log: Path) -> list[Operation]:
    """The operations of a training run in `folder`, made in a forked process."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, "the recorded run failed"
        return list(pickle.loads(log.read_bytes()))
    status = 1
    try:
        operations: list[Operation] = []
        save = training_loop.save_checkpoint

        def marked(job: object, progress: object) -> None:
            save(job, progress)  # type: ignore[arg-type]
            operations.append(Operation(SAVED, str(folder), offset=progress.step))  # type: ignore[attr-defined]

        training_loop.save_checkpoint = marked
        watch(folder.parent, operations.append)
        train(RECIPE, folder)
        log.write_bytes(pickle.dumps(operations))
        status = 0
    finally:
        os._exit(status)


def write_image(image: dict[str, bytes | None], place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path, data in sorted(image.items()):
        if data is None:
            (place / path).mkdir(parents=True, exist_ok=True)
        else:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)


def check_image(folder: Path, saved: int, what: str) -> None:
    """The checkpoint loads and is not older than the last one whose saving had ended; what it needs is whole."""
    checkpoint = load_checkpoint(folder / "last", torch.device("cpu")) if folder.exists() else None
    step = checkpoint.progress.step if checkpoint is not None else 0
    assert step >= saved, f"{what}: the checkpoint of step {saved} is lost, that of step {step} is there"
    if checkpoint is None:
        return
    if checkpoint.progress.best_step and checkpoint.progress.best_step < step:
        load_bundle(folder / "best")
    journal = [entry["step"] for entry in read_journal(folder / "journal.jsonl") if entry["event"] == "step"]
    assert journal[:step] == list(range(1, step + 1)), f"{what}: the journal has lost steps: {journal} of {step}"
    for path in (folder / "average").glob("*.safetensors"):
        kept, _, checksum = path.stem.partition("-")
        whole = FileEntry.of(path).sha256.startswith(checksum)
        assert whole or int(kept) > step, f"{what}: {path.name}, which step {step} needs, is damaged"


def lose_power(root: Path, images: int, seconds: float = float("inf"), seed: int = 7) -> dict[str, object]:
    """Check `count` images, spread over the operations of one run; the figures."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    random, deadline = Random(seed), time.monotonic() + seconds
    place = root / "disk"
    place.mkdir(parents=True)
    operations = record(place / "run", root / "operations")
    shutil.move(place, root / "whole")
    chosen = sorted(random.choices(range(len(operations) + 1), k=images))
    disk, done, saved = Disk(place), 0, 0
    counts: Counter[str] = Counter()
    for number, moment in enumerate(chosen):
        if time.monotonic() > deadline:
            break
        saved = max([saved, *(one.offset for one in operations[done:moment] if one.kind == SAVED)])
        for operation in operations[done:moment]:
            disk.apply(operation)
        done = moment
        what = f"power loss after operation {moment} of {len(operations)} ({_last(operations, moment)})"
        write_image(copy.deepcopy(disk).lose_power(random, most=number % 2 == 0), place)
        check_image(place / "run", saved, what)
        counts["images"] += 1
        if number % RESUMED == 0:
            counts["resumed"] += 1
            train(RECIPE, place / "run", resume=(place / "run" / "recipe.json").exists())
            compare(place / "run", root / "whole" / "run", what)
    return {"operations": len(operations), **counts}


def _last(operations: Sequence[Operation], moment: int) -> str:
    return f"{operations[moment - 1].kind} {Path(operations[moment - 1].path).name}" if moment else "none"
