"""Runs commands of `regard` whose n-th file operation fails, and checks what they say and what they leave.

After a fault a command ends with one message (or goes on, where it can), every file that was there before is as it was
or as the command writes it, and the same command then succeeds and leaves what it leaves without the fault.
"""

import errno
import hashlib
import io
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
import torch

from chaos.operations import Operation, ShortWrite, watch
from regard.cli.main import run
from regard.data.catalogue import CatalogueEntry, catalogue
from regard.server.run_replay import NAME as SNAPSHOTS
from regard.server.snapshot_listener import NO_MORE
from training.stopped import GOLDEN, compare, losses

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
KINDS = (*(errno.errorcode[number] for number in ERRORS), "short write", "full disk")
"""How an operation fails; `full disk` fails every later operation that needs space, too."""
NEEDS_SPACE = ("create", "write", "fsync", "mkdir")
RECIPE = """
[data]
{data}
[text]
source_eos = false
[model]
preset = "bahdanau"
size = "tiny"
embedding = 6
encoder_units = 6
decoder_units = 8
[train]
steps = 4
batch_sentences = 8
validate_every = 2
average = 2
metric = "exact_match"
deterministic = true
device = "cpu"
"""
REVERSE = 'kind = "reverse"\nvocabulary = 12\nshortest = 2\nlongest = 5\ntrain = 24\ndev = 4\ntest = 4'
TSV = 'kind = "tsv"\ntrain = "pairs.tsv"\ndev = "dev.tsv"\ntest = "dev.tsv"'
PAIRS = "".join(f"{a} {b} {c}\t{c} {b} {a}\n" for a in (3, 4, 5) for b in (6, 7) for c in (8, 9, 10))
TEXTS = {"train.en": "one\n" * 9000, "train.fr": "un\n" * 9000, "LICENSE": "free\n"}
Contents = dict[str, bytes]
SECONDS = 120.0
"""For one command; one that takes longer hangs."""


@dataclass(frozen=True)
class Scenario:
    """A command in a folder that a prepared one is copied to; `again` makes the command that follows a fault."""

    name: str
    command: Sequence[str]
    start: Path
    again: Callable[[Path], Sequence[str]] | None = None
    same: Callable[[Path, Path, str], None] | None = None


@dataclass
class Ended:
    """How a command ended: its exit code (negative: a signal), its output, its operations if they were counted."""

    code: int
    printed: str
    operations: list[str] = field(default_factory=list)


class BrokenPromise(AssertionError):
    """A command did not do what it must after a fault."""


def fork(
    command: Sequence[str],
    folder: Path,
    *,
    stop: tuple[int, str] | None = None,
    prepare: Callable[[], None] = lambda: None,
) -> Ended:
    """Run `regard` in a forked process with `folder` as its current folder; `stop` is the operation that fails."""
    with tempfile.TemporaryDirectory() as place:
        log, counted = Path(place, "log"), Path(place, "operations")
        child = os.fork()
        if not child:
            code = 70
            try:
                output = os.open(log, os.O_WRONLY | os.O_CREAT)
                os.dup2(output, 1)
                os.dup2(output, 2)
                os.chdir(folder)
                os.environ.update(_places(folder))
                prepare()
                if stop is not None:
                    watch(folder, _Injector(*stop, counted.open("w", encoding="utf-8")))
                code = run(command)
                sys.stdout.flush()
            finally:
                os._exit(code)
        code = wait(child, SECONDS)
        operations = counted.read_text(encoding="utf-8").split() if counted.exists() else []
        return Ended(code, log.read_text(encoding="utf-8", errors="replace"), operations)


def _places(folder: Path) -> dict[str, str]:
    return {"REGARD_CACHE": str(folder / "cache"), "REGARD_DATA": str(folder / "data")}


def wait(child: int, seconds: float) -> int:
    """The exit code of a child; one that takes longer is killed."""
    deadline = time.monotonic() + seconds
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(ended[1])


class _Injector:
    """Lets the n-th operation fail; with n = 0 none, but each is written down."""

    def __init__(self, moment: int, kind: str, counted: "os.PathLike[str] | object") -> None:
        self.moment, self.kind, self.counted, self.seen = moment, kind, counted, 0

    def __call__(self, operation: Operation) -> None:
        self.seen += 1
        if not self.moment:
            self.counted.write(f"{operation.kind}\n")  # type: ignore[attr-defined]
            self.counted.flush()  # type: ignore[attr-defined]
        full = self.kind == "full disk"
        if self.seen == self.moment or (full and self.seen > self.moment > 0 and operation.kind in NEEDS_SPACE):
            number = next((one for one in ERRORS if errno.errorcode[one] == self.kind), errno.ENOSPC)
            error = OSError(number, os.strerror(number), operation.path)
            raise ShortWrite(error) if self.kind == "short write" else error


def contents(folder: Path) -> Contents:
    """The content of every file, and every folder as an empty one with a slash; lock files are left out."""
    found = {f"{path.relative_to(folder)}/": b"" for path in folder.rglob("*") if path.is_dir()}
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {**found, **{str(path.relative_to(folder)): path.read_bytes() for path in files}}


def scenarios(root: Path) -> list[Scenario]:
    """The commands that write files, each with the folder it starts from."""
    plain = root / "start" / "plain"
    plain.mkdir(parents=True)
    (plain / "recipe.toml").write_text(RECIPE.format(data=REVERSE), encoding="utf-8")
    (plain / "stored.toml").write_text(RECIPE.format(data=TSV), encoding="utf-8")
    (plain / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    (plain / "dev.tsv").write_text(PAIRS[:60], encoding="utf-8")
    (plain / "corpora").mkdir()
    for name, text in TEXTS.items():
        (plain / "corpora" / name).write_text(text, encoding="utf-8")
    _know_corpus()
    trained = root / "start" / "trained"
    shutil.copytree(plain, trained)
    done = fork(["train", "recipe.toml", "--out", "run"], trained)
    assert done.code == 0, done.printed
    for name in ("out.txt", "links.txt", "rule.json", "page.html", "cat.png", "cat.svg"):
        (trained / name).write_text("what was there before\n", encoding="utf-8")
    (trained / "texts").mkdir()
    for name in ("one.txt", "two.tsv"):
        (trained / "texts" / name).write_text(PAIRS, encoding="utf-8")
    done = fork(["export", "int8", "run", "--out", "int8"], trained)
    assert done.code == 0, done.printed
    fetched = root / "start" / "fetched"
    shutil.copytree(plain, fetched)
    (fetched / "data" / "chaos").mkdir(parents=True)
    (fetched / "data" / "chaos" / "train.en").write_text("an older edition\n", encoding="utf-8")
    align = [
        "align",
        "run",
        "pairs.tsv",
        "--output",
        "links.txt",
        "--save-settings",
        "rule.json",
        "--html",
        "page.html",
    ]
    bulk = ["translate", "run", "--engine", "local", "--input", "texts", "--output", "parts"]
    return [
        Scenario("train", ["train", "recipe.toml", "--out", "run"], plain, _resumed("recipe.toml"), _same_run),
        Scenario("cache", ["train", "stored.toml", "--out", "run"], plain, _resumed("stored.toml"), _same_run),
        Scenario("translate", ["translate", "run", "--input", "dev.tsv", "--output", "out.txt"], trained),
        Scenario("translate a folder", bulk, trained),
        Scenario("align", align, trained),
        Scenario("plot", ["plot", "run", "3 4 5", "--out", "cat.svg"], trained),
        Scenario("plot a curve", ["plot", "run", "--out", "cat.png"], trained),
        Scenario("export", ["export", "int8", "run", "--out", "int8"], trained),
        Scenario("data get", ["data", "get", "chaos", "--from", "corpora"], fetched),
    ]


def _know_corpus() -> None:
    def file(text: str) -> dict[str, object]:
        data = text.encode()
        return {"sha256": hashlib.sha256(data).hexdigest(), "lines": text.count("\n"), "bytes": len(data)}

    names = {"name": "chaos", "title": "t", "origin": "o", "licence": "l", "use": "u", "layout": "parallel"}
    files = {name: file(text) for name, text in TEXTS.items() if name != "LICENSE"}
    also = {"LICENSE": file(TEXTS["LICENSE"])}
    catalogue()["chaos"] = CatalogueEntry.model_validate(
        {**names, "sides": ["en", "fr"], "train": "train", "files": files, "also": also}
    )


def _resumed(recipe: str) -> Callable[[Path], Sequence[str]]:
    """Training continues if there is a run."""

    def command(folder: Path) -> Sequence[str]:
        begun = (folder / "run" / "recipe.json").exists()
        return ["train", recipe, "--out", "run", *(["--resume"] if begun else [])]

    return command


def _same_run(folder: Path, whole: Path, what: str) -> None:
    compare(folder / "run", whole / "run", what)
    assert losses(folder / "run") == losses(whole / "run")
    others = [{k: v for k, v in contents(one).items() if not k.startswith("run/")} for one in (folder, whole)]
    assert others[0] == others[1], f"{what}: other files differ: {_differing(*others)}"


def inject(scenario: Scenario, root: Path, whole: Path, moment: int, kind: str) -> str:
    """Let one operation fail; returns how the command ended: refused or continued. Raises BrokenPromise."""
    folder = root / "case"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scenario.start, folder)
    what = f"{scenario.name}, {kind} at operation {moment}"
    before, after = contents(scenario.start), contents(whole)
    ended = fork(scenario.command, folder, stop=(moment, kind))
    check_message(ended, what)
    now = contents(folder)
    for name, data in before.items():
        if now.get(name) not in (data, after.get(name)):
            raise BrokenPromise(f"{what}: {name} is lost or damaged; the output was: {ended.printed[-500:]}")
    again = scenario.again(folder) if scenario.again is not None else scenario.command
    finished = fork(again, folder)
    if finished.code:
        raise BrokenPromise(f"{what}: the next run fails: {finished.printed[-500:]}; before: {ended.printed[-500:]}")
    if NO_MORE in ended.printed:  # reported, and no part of the model
        shutil.copy(whole / "run" / SNAPSHOTS, folder / "run" / SNAPSHOTS)
    for kept in re.findall(r"the output so far is in (.*)", ended.printed):
        Path(kept).unlink()  # the user's to look at
    try:
        if scenario.same is not None:
            scenario.same(folder, whole, what)
        elif (now := contents(folder)) != after:
            raise AssertionError(f"{what}: after the next run {_differing(now, after)} differ")
    except AssertionError as error:
        raise BrokenPromise(f"{error}; the output was: {ended.printed[-500:]}") from error
    return "went on" if ended.code == 0 else "refused"


def check_message(ended: Ended, what: str, *, doctor: bool = False) -> None:
    """Refuse anything but success or one message; `regard doctor` prints its findings instead."""
    last = (ended.printed.strip().splitlines() or [""])[-1]
    wrong = [words for words in ("Traceback", "regard: unexpected ") if words in ended.printed]
    clear = ended.code == 0 or (ended.code in (1, 2) and (doctor or last.startswith("regard: ")))
    if wrong or not clear:
        raise BrokenPromise(f"{what}: exit code {ended.code}: {ended.printed[-1500:]}")


def _differing(one: Contents, other: Contents) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def _run_untouched(scenario: Scenario, root: Path, number: int) -> tuple[Path, list[str]]:
    """The folder that the command leaves without a fault, and its operations."""
    whole = root / "whole" / str(number)
    for _ in range(2):  # the first one imports, here and for the processes that are forked, what the command needs
        shutil.rmtree(root / "case", ignore_errors=True)
        shutil.copytree(scenario.start, root / "case")
        ended = (
            fork(scenario.command, root / "case", stop=(0, ""))
            if whole.exists()
            else run_here(scenario.command, root / "case")
        )
        assert ended.code == 0, f"{scenario.name}: {ended.printed}"
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(root / "case", whole)
    return whole, ended.operations


def run_here(command: Sequence[str], folder: Path) -> Ended:
    """Run `regard` in this process with `folder` as its current folder."""
    here, printed = os.getcwd(), io.StringIO()
    os.chdir(folder)
    try:
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
            for name, place in _places(folder).items():
                patch.setenv(name, place)
            return Ended(run(command), printed.getvalue())
    finally:
        os.chdir(here)


def inject_all(root: Path, faults: int, seconds: float = float("inf"), seed: int = 7) -> dict[str, object]:
    """Spread `count` faults over the operations of all scenarios; the figures, with every broken promise."""
    torch.set_num_threads(1)  # a forked process cannot use the threads of its parent
    random, deadline = Random(seed), time.monotonic() + seconds
    untouched = [(one, *_run_untouched(one, root, number)) for number, one in enumerate(scenarios(root))]
    outcomes = {scenario.name: Counter[str]() for scenario, _, _ in untouched}
    kinds: Counter[str] = Counter()
    broken: list[str] = []
    for number in range(faults):
        if time.monotonic() > deadline:
            break
        scenario, whole, operations = untouched[number % len(untouched)]
        moment = 1 + int(len(operations) * (number / GOLDEN % 1.0))  # spread evenly, however many there will be
        operation = operations[moment - 1]
        kind = random.choice([one for one in KINDS if one != "short write" or operation == "write"])
        kinds[f"{operation}: {kind}"] += 1
        try:
            outcomes[scenario.name][inject(scenario, root, whole, moment, kind)] += 1
        except BrokenPromise as promise:
            outcomes[scenario.name]["broken promise"] += 1
            broken.append(str(promise))
    commands = {one.name: {"operations": len(operations), **outcomes[one.name]} for one, _, operations in untouched}
    return {"faults": kinds.total(), "commands": commands, "kinds": dict(kinds), "broken": broken}
