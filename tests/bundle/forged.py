"""Forged bundles: ways in which a hostile folder tries to exhaust memory or time, or to hang the reader."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
WEIGHTS, SOURCE, TARGET = "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"
GIGABYTE = 1 << 30
HUGE = {"billions": 1 << 31, "trillions": 10**12, "googol": 10**400, "digits": 10**4200}
RECURRENT = (
    "embedding", "encoder_units", "encoder_layers", "decoder_units", "decoder_layers", "attention_width", "heads",
    "reach", "readout_width",
)  # fmt: skip
TRANSFORMER = ("width", "heads", "encoder_layers", "decoder_layers", "feedforward", "longest")
COUNTS = ("source_vocabulary", "target_vocabulary", "longest_source")

Forge = Callable[[Path], None]


def change(*keys: str, **values: Any) -> Forge:
    """Set values in a table of the manifest."""

    def forge(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        table = manifest
        for key in keys:
            table = table[key]
        manifest["sha256"] = None  # of the manifest itself, which is then not checked
        table.update(values)
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    return forge


def transformer(**values: Any) -> Forge:
    """The same for the model of another architecture."""
    model = {"architecture": "transformer", "width": 8, "heads": 2, "feedforward": 8, "positions": "learned"}

    def forge(folder: Path) -> None:
        change(model={**model, "encoder_layers": 1, "decoder_layers": 1, **values})(folder)

    return forge


def raw(name: str, data: bytes, size: int | None = None) -> Forge:
    """Replace a file by data and a hole up to `size`, and put it into the manifest."""

    def forge(folder: Path) -> None:
        (folder / name).write_bytes(data)
        if size is not None:
            os.truncate(folder / name, size)
        if name != MANIFEST:
            listed(folder, name)

    return forge


def listed(folder: Path, name: str) -> None:
    """Enter the file into the manifest; the checksum of a huge file is not computed, because no check may need it."""
    from regard.bundle.manifest import FileEntry

    size = (folder / name).stat().st_size
    entry = FileEntry.of(folder / name).model_dump() if size < 1 << 28 else {"bytes": size, "sha256": "0" * 64}
    change("files", **{name: entry})(folder)


def special(name: str, make: Callable[[Path], object]) -> Forge:
    """A special file; the manifest lists it with size 0."""

    def forge(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)
        if name != MANIFEST:
            change("files", **{name: {"bytes": 0, "sha256": "0" * 64}})(folder)

    return forge


def link(target: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(target)


def listen(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the system takes only short names
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(here)


def header(content: bytes | dict[str, Any], data: int = 0, claimed: int | None = None) -> Forge:
    """Weights with this header and sparse data of the given size."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    length = len(text) if claimed is None else claimed
    return raw(WEIGHTS, length.to_bytes(8, "little") + text, 8 + len(text) + data)


def tensor(shape: list[Any], dtype: str = "F32", end: int = 0) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}


def whole_model_of_holes(folder: Path) -> None:
    """A model of 600 million parameters with a valid header and size, whose weights are a hole in the file."""
    from regard.models import preset
    from regard.models.seq2seq import outline

    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    config = preset("bahdanau", "tiny", **{**SMALL, "encoder_units": 8192, "decoder_units": 4096})
    model = outline(config, manifest["source_vocabulary"], manifest["target_vocabulary"])
    content, place = {}, 0
    for name, parameter in model.state_dict().items():
        end = place + 4 * parameter.numel()
        content[name] = {"dtype": "F32", "shape": list(parameter.shape), "data_offsets": [place, end]}
        place = end
    change(model=config.model_dump())(folder)
    header(content, place)(folder)


def tokenizer(model: dict[str, Any] | None = None, **changes: Any) -> Forge:
    """Change the source tokenizer's file, or the model in it."""

    def forge(folder: Path) -> None:
        content = json.loads((folder / SOURCE).read_text(encoding="utf-8"))
        content["tokenizer"]["model"] |= model or {}
        raw(SOURCE, json.dumps({**content, **changes}).encode())(folder)

    return forge


def many_pieces(folder: Path) -> None:
    content = {
        "format": "regard-tokenizer-1",
        "config": {},
        "tokenizer": {"model": {"type": "WordLevel", "vocab": "@"}},
    }
    pieces = ",".join(f'"{number}":{number}' for number in range(1_100_000))
    raw(SOURCE, json.dumps(content).replace('"@"', f"{{{pieces}}}").encode())(folder)


def wrapped(data: bytes, times: int, ends: bytes = b"[]") -> Forge:
    """A tokenizer's file that is one list or one string; made when it is written."""
    return lambda folder: raw(SOURCE, ends[:1] + data * times + (b"1" * (data[-1:] == b",")) + ends[1:])(folder)


SMALL = {"embedding": 4, "encoder_units": 5, "decoder_units": 5, "dropout": 0.0}
PIECES = {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3}
LONG = "x" * 10_000_000
TINY = tensor([1], end=4)
SPECIAL: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo, "a socket": listen, "endless zeros": link("/dev/zero"), "nothing": link("/dev/null"),
    "a terminal": link("/dev/tty"), "itself": lambda path: path.symlink_to(path), "the kernel": link("/proc/kmsg"),
}  # fmt: skip


def forgeries() -> Iterator[tuple[str, Forge]]:
    """Each with a name; group after group, as some of them are large."""
    for group in (_numbers, _models, _manifests, _files, _headers, _tokenizers):
        yield from group().items()


def _numbers() -> dict[str, Forge]:
    """Every size in every order of magnitude, and invalid sizes."""
    odd = (0, -1, 1.5, float("nan"), LONG, [1])
    return {
        **{f"{key} in {name}": change("model", **{key: value}) for key in RECURRENT for name, value in HUGE.items()},
        **{
            f"Transformer's {key} in {n}": transformer(**{key: value})
            for key in TRANSFORMER
            for n, value in HUGE.items()
        },
        **{f"{key} in {name}": change(**{key: value}) for key in COUNTS for name, value in HUGE.items()},
        **{f"embedding {value!r:.20}": change("model", embedding=value) for value in odd},
        **{f"version in {name}": change(version=value) for name, value in HUGE.items()},
        **{f"bytes in {name}": change("files", WEIGHTS, bytes=value) for name, value in HUGE.items()},
    }


def _models() -> dict[str, Forge]:
    """Models with valid sizes and without their weights."""
    return {
        "a wide encoder": change("model", encoder_units=8192),
        "the widest encoder": change("model", encoder_units=16_384),
        "a wide model": change("model", embedding=16_384, encoder_units=16_384, decoder_units=16_384),
        "a large vocabulary": change(source_vocabulary=1_000_000, target_vocabulary=1_000_000),
        "many layers": change("model", encoder_layers=64, decoder_layers=64),
        "layers of a Transformer": transformer(encoder_layers=64, decoder_layers=64, width=4096, feedforward=16_384),
        "many narrow layers": transformer(encoder_layers=64, decoder_layers=64),
        "ten million heads": change("model", score="multi-head", heads=10_000_000, attention_width=10_000_000),
        "a whole model of holes": whole_model_of_holes,
    }


def _manifests() -> dict[str, Forge]:
    levels = b"[" * 500 + b"]" * 500
    return {
        "a long checksum": change("files", WEIGHTS, sha256=LONG),
        "a negative size": change("files", WEIGHTS, bytes=-1),
        "a long key": change("model", **{LONG: 1}),
        "a long score": change("model", score=LONG),
        "a long architecture": change("model", architecture=LONG),
        "a long writer": change(regard=LONG, version=99),
        "a long format": change(format=LONG),
        "many files": change(files={f"{n}": {"bytes": 1, "sha256": "0" * 64} for n in range(100_000)}),
        "a manifest of a gigabyte": raw(MANIFEST, b"{}", GIGABYTE),
        "a manifest of digits": raw(MANIFEST, b'{"format": "regard-bundle", "version": ' + b"9" * 5000 + b"}"),
        "a manifest with a key twice": raw(MANIFEST, b'{"format": "x", "format": "regard-bundle", "version": 1}'),
        "a manifest that is not UTF-8": raw(MANIFEST, b"\xff" * 1000),
        "a manifest of some levels": raw(MANIFEST, b'{"format": "regard-bundle", "version": 1, "a": ' + levels + b"}"),
    }


def _files() -> dict[str, Forge]:
    names = (MANIFEST, WEIGHTS, SOURCE)
    deep = {"lists": b"[" * 200_000 + b"]" * 200_000, "tables": b'{"a":' * 100_000 + b"1" + b"}" * 100_000}
    return {
        **{f"{name} is {what}": special(name, make) for name in names for what, make in SPECIAL.items()},
        **{f"{name} of deep {what}": raw(name, data) for name in (MANIFEST, SOURCE) for what, data in deep.items()},
        **{f"a header of deep {what}": header(data) for what, data in deep.items()},
    }


def _headers() -> dict[str, Forge]:
    once = b'"a": ' + json.dumps(TINY).encode()
    no_tensors: list[Any] = [
        {"dtype": LONG[:4_000_000], "shape": [1], "data_offsets": [0, 4]}, tensor([1 << 62, 4]), tensor([10**400]),
        tensor([-1]), tensor(["many"]), tensor([1] * 100_000), {"shape": [1]}, tensor([1.5]), 7, {"dtype": "F32"},
    ]  # fmt: skip
    return {
        **{f"a tensor {one!s:.40}": header({"encoder.embedding.weight": one}, 4) for one in no_tensors},
        "weights of a hundred gigabytes": raw(WEIGHTS, b"", 100 * GIGABYTE),
        "a header that claims a gigabyte": header(b"{}", GIGABYTE, claimed=GIGABYTE),
        "a header that claims all there is": header(b"{}", claimed=(1 << 64) - 1),
        "a header longer than the file": header(b"{}", claimed=5000),
        "a header of spaces": header(b" " * 5_000_000),
        "no header": raw(WEIGHTS, b"abc"),
        "half a million tensors": header({f"{n}": TINY for n in range(500_000)}, 4),
        "thousands of tensors": header({f"{n}": TINY for n in range(50_000)}, 4),
        "a long name of a tensor": header({LONG[:4_000_000]: TINY}, 4),
        "a tensor twice": header(b"{" + once + b", " + once + b"}", 4),
        "a header that is a list": header(b"[1, 2]"),
        "a header that is not UTF-8": header(b"\xff" * 100),
    }


def _tokenizers() -> dict[str, Forge]:
    return {
        "a tokenizer of a gigabyte": raw(SOURCE, b"{}", GIGABYTE),
        "a tokenizer of empty lists": wrapped(b"[],", 15_000_000),
        "a tokenizer of many lists": wrapped(b"[],", 1_100_000),
        "a tokenizer of many tables": wrapped(b'{"a":{"b":1}},', 550_000),
        "a tokenizer of numbers": wrapped(b"1e5,", 15_000_000),
        "a tokenizer of fewer numbers": wrapped(b"1e5,", 3_900_000),
        "a tokenizer of one string": wrapped(b"x", 60_000_000, b'""'),
        "a tokenizer of wide characters": wrapped("😀".encode(), 15_000_000, b'""'),
        "a tokenizer of another format": tokenizer(format=LONG),
        "a tokenizer with a huge limit": tokenizer(config={"vocabulary": 10**400}),
        "a tokenizer with an unknown choice": tokenizer(config={LONG: 1}),
        "a tokenizer of an unknown model": tokenizer({"type": LONG}),
        "a tokenizer of another model": tokenizer({"type": "BPE", "merges": []}),
        "a tokenizer with a long piece": tokenizer({"vocab": {**PIECES, LONG: 4}}),
        "a tokenizer with too many pieces": many_pieces,
        "a tokenizer with a huge number": tokenizer({"vocab": {**PIECES, "a": 10**400}}),
        "a tokenizer whose pieces are elsewhere": tokenizer({"vocab": "/dev/zero"}),
        "a tokenizer with a gap": tokenizer({"vocab": {**PIECES, "a": (1 << 32) - 1}}),
        "a tokenizer with one number twice": tokenizer({"vocab": {**PIECES, "a": 4, "b": 4}}),
        "a tokenizer without a model": tokenizer(tokenizer={}),
        "a tokenizer that is a number": tokenizer(tokenizer=7),
        "a tokenizer without choices": tokenizer(config=LONG),
    }
