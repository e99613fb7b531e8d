"""A fuzzer for bundles, recipes, data files and ONNX folders: damaged and invented input, one command for each case.

Every case is a forked process with limited memory and time. A command must end with exit code 0, or with 1 or 2 and a
message; a traceback, an "unexpected" line, a signal, too much memory or a hang is a finding.
"""

import json
import re
import resource
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bundle.test_refused import accept
from chaos.faults import PAIRS, RECIPE, REVERSE, BrokenPromise, check_message, fork, run_here
from regard.bundle.store import load_bundle, save_int8
from runtime.bundles import untrained

MEMORY = 2 << 30
"""Bytes of a case at most."""
Draw = Callable[[st.SearchStrategy[Any]], Any]
NUMBERS = (0, 1, 2, 3, 7, -1, 2**31, 2**63, 2**64, 10**30, 10**400, 0.5, -0.0, 1e308, 1e-308)
"""Small numbers and numbers beyond every limit: those between may be valid and take long."""
WORDS = ("", " ", "\0", "\ud800", "é", "𐍈", "../..", "/dev/zero", "a" * 5000, "%s", "tsv", "jsonl", "auto", "[", "{")
SCALARS = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(WORDS), st.text(max_size=8))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


def change_bytes(draw: Draw, data: bytes) -> bytes:
    """One to three changes: bytes flipped, inserted, removed, repeated, or the rest cut off."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from((1, 2, 8, 100)))
        kind = draw(st.sampled_from(("replace", "insert", "remove", "repeat", "cut")))
        new = draw(st.binary(min_size=1, max_size=8) | st.sampled_from((b"\xff" * 8, b"\0" * 8, b"\n", b"\t", b"\r")))
        end = place + length
        data = {
            "replace": data[:place] + new + data[place + len(new) :],
            "insert": data[:place] + new + data[place:],
            "remove": data[:place] + data[end:],
            "repeat": data[:place] + data[place:end] * 50 + data[end:],
            "cut": data[:place],
        }[kind]
    return data


def change_document(draw: Draw, document: Any) -> Any:
    """One to three values of a document of lists and tables replaced, removed or added."""
    document = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(document))
        if not places:
            return draw(VALUES)
        holder, key = draw(st.sampled_from(places))
        kind = draw(st.sampled_from(("replace", "replace", "remove", "add")))
        if kind == "replace":
            holder[key] = draw(VALUES)
        elif kind == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(st.text(max_size=8))] = draw(VALUES)
        else:
            holder.append(draw(VALUES))
    return document


def _places(document: Any) -> Any:
    """Every value, by what holds it and its key; of a long list or table, the first ones."""
    keys = list(document)[:40] if isinstance(document, dict) else range(min(len(document), 5))
    for key in keys:
        yield document, key
        if isinstance(document[key], dict | list):
            yield from _places(document[key])


def write_toml(table: dict[str, Any]) -> str:
    """A recipe's tables as TOML; null, which TOML does not know, becomes an invalid word."""
    lines = []
    for name, values in table.items():
        if isinstance(values, dict):
            lines.append(f"[{_toml(name)}]")
            lines += [f"{_toml(key)} = {_toml(value)}" for key, value in values.items()]
        else:
            lines.insert(0, f"{_toml(name)} = {_toml(values)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def fuzz_bundle(draw: Draw, folder: Path) -> Sequence[str]:
    bundle = draw(st.sampled_from(("bundle", "int8")))
    name = draw(st.sampled_from(("manifest.json", "manifest.json", "source.tokenizer.json", "model.safetensors")))
    _change_file(draw, folder / bundle / name)
    if name != "manifest.json" and draw(st.booleans()):
        accept(folder / bundle, name)
    return draw(st.sampled_from((["info", bundle], ["translate", bundle, "the cat"], ["doctor", bundle])))


def fuzz_onnx(draw: Draw, folder: Path) -> Sequence[str]:
    names = ("manifest.json", "encoder.onnx", "decoder.onnx", "decoder.onnx", "weights.bin", "target.tokenizer.json")
    name = draw(st.sampled_from(names))
    _change_file(draw, folder / "onnx" / name)
    if name != "manifest.json":
        accept(folder / "onnx", name)
    return draw(st.sampled_from((["info", "onnx"], ["translate", "onnx", "the cat"])))


def _change_file(draw: Draw, path: Path) -> None:
    if path.suffix == ".json" and draw(st.booleans()):
        document = change_document(draw, json.loads(path.read_text(encoding="utf-8")))
        if path.name == "manifest.json" and isinstance(document, dict):
            document["sha256"] = None
        path.write_text(json.dumps(document), encoding="utf-8")
    else:
        path.write_bytes(change_bytes(draw, path.read_bytes()))


def fuzz_recipe(draw: Draw, folder: Path) -> Sequence[str]:
    from regard.reading_files import parse_toml

    path = folder / "recipe.toml"
    if draw(st.integers(0, 3)):
        table = change_document(draw, parse_toml(path.read_text(encoding="utf-8")))
        path.write_text(write_toml(table if isinstance(table, dict) else {"": table}), encoding="utf-8")
    else:
        path.write_bytes(change_bytes(draw, path.read_bytes()))
    small = ("train.steps=1", "data.train=9", "data.dev=2", "data.test=2", "data.longest=5", "train.batch_sentences=8")
    train = ["train", "recipe.toml", "--out", "run", *(word for one in small for word in ("--set", one))]
    return draw(st.sampled_from((["doctor", "recipe.toml"], train, train)))


def fuzz_data(draw: Draw, folder: Path) -> Sequence[str]:
    names = ("pairs.tsv", "pairs.csv", "pairs.jsonl", "pairs.parquet", "links.txt")
    name = draw(st.sampled_from([one for one in names if (folder / one).exists()]))
    path = folder / name
    invented = not draw(st.integers(0, 5))
    path.write_bytes(draw(st.binary(max_size=300)) if invented else change_bytes(draw, path.read_bytes()))
    kind = path.suffix[1:]
    named = kind in ("jsonl", "parquet")
    fields = ["--set", "data.source=source", "--set", "data.target=target"] if named else []
    stored = ["--set", f"data.kind={kind}", "--set", f"data.train={name}", *fields, "--set", "train.steps=1"]
    if name == "links.txt":
        return ["align", "bundle", "start.tsv", "--gold", "links.txt", "--output", "out.txt"]
    commands = [["doctor", name], ["train", "recipe.toml", "--out", "run", *stored]]
    if name != "pairs.csv":
        bulk = ["translate", "bundle", "--engine", "local", "--input", name, "--output", "parts"]
        commands.append([*bulk, *(["--column", "source"] if named else [])])
    if name == "pairs.tsv":
        commands += [["translate", "bundle", "--input", name, "--output", "out.txt"], ["align", "bundle", name]]
    return draw(st.sampled_from(commands))


TARGETS = {"bundle": fuzz_bundle, "recipe": fuzz_recipe, "data": fuzz_data, "onnx": fuzz_onnx}


def prepare(folder: Path, target: str) -> None:
    """One valid folder of everything that the targets spoil; Parquet only where pyarrow is installed."""
    folder.mkdir(parents=True)
    untrained(folder / "bundle")
    save_int8(folder / "int8", load_bundle(folder / "bundle"))
    if target == "onnx":
        import onnxruntime  # noqa: F401  (imported once, not in every process)

        from regard.export.write_folder import export_onnx

        export_onnx(folder / "bundle", folder / "onnx")
    (folder / "recipe.toml").write_text(RECIPE.format(data=REVERSE), encoding="utf-8")
    for name in ("pairs.tsv", "start.tsv"):
        (folder / name).write_text(PAIRS, encoding="utf-8")
    rows = [dict(zip(("source", "target"), line.split("\t"), strict=True)) for line in PAIRS.splitlines()]
    lines = [f'{row["source"]},"{row["target"]}"' for row in rows]
    (folder / "pairs.csv").write_text("\n".join(["source,target", *lines, ""]), encoding="utf-8")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if find_spec("pyarrow") is not None:
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), folder / "pairs.parquet")
    (folder / "links.txt").write_text("0-0 1-1 2-2\n" * len(rows), encoding="utf-8")


def limit_memory() -> None:
    """Limit the address space of the process to two gigabytes."""
    mapped, used = (int(one) * resource.getpagesize() for one in Path("/proc/self/statm").read_text().split()[:2])
    most = mapped + MEMORY - used
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


class TimeIsOver(KeyboardInterrupt):
    """Ends a round of Hypothesis, which takes any other exception, or a case that draws less, for a finding."""


WARM = (
    ["info", "bundle"], ["translate", "bundle", "the cat"], ["doctor", "bundle"], ["align", "bundle", "start.tsv"],
    ["doctor", "start.tsv"], ["doctor", "recipe.toml"], ["train", "recipe.toml", "--out", "run"],
)  # fmt: skip
"""Commands that import, for all processes that are forked later, what the cases need."""


def warm(start: Path, root: Path) -> None:
    shutil.copytree(start, root / "case")
    for command in WARM:
        ended = run_here(command, root / "case")
        assert ended.code == 0 or command[0] == "doctor", ended.printed


def fuzz(target: str, root: Path, seconds: float, first_seed: int = 7, cases: int | None = None) -> dict[str, object]:
    """Run cases until the time or the number of cases is reached; the figures, with every finding."""
    torch.set_num_threads(1)  # a forked process cannot use the threads of its parent
    start, folder = root / "start", root / "case"
    prepare(start, target)
    warm(start, root)
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}
    slowest, began = 0.0, time.monotonic()

    def over() -> bool:
        return time.monotonic() - began > seconds or (cases is not None and outcomes.total() >= cases)

    def case(data: st.DataObject) -> None:
        nonlocal slowest
        if over():
            raise TimeIsOver
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(start, folder)
        command = TARGETS[target](data.draw, folder)
        at = time.monotonic()
        ended = fork(command, folder, prepare=limit_memory)
        slowest = max(slowest, time.monotonic() - at)
        outcomes[f"exit code {ended.code}"] += 1
        try:
            check_message(ended, " ".join(command), doctor=command[0] == "doctor")
        except BrokenPromise as promise:
            kept, kind = root / "found" / str(len(findings)), re.sub(r"\d+", "N", ended.printed[-200:])
            if len(findings) < 20 and kind not in findings:
                shutil.copytree(folder, kept)
                findings[kind] = f"{promise} (in {kept})"

    number = first_seed
    while not over():
        options = settings(
            max_examples=100, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck), derandomize=False,
        )  # fmt: skip
        with suppress(TimeIsOver):
            seed(number)(options(given(st.data())(case)))()
        number += 1
    elapsed = round(time.monotonic() - began)
    figures = {"cases": outcomes.total(), "seconds": elapsed, "slowest_case": round(slowest, 1)}
    return {**figures, "outcomes": dict(outcomes), "findings": list(findings.values())}
