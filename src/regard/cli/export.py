"""Write a trained model for other places: as ONNX graphs for any runtime, or as an int8 bundle for regard itself.

Examples:
    regard export onnx runs/demo --out demo-onnx
    regard export onnx runs/demo --out demo-onnx8 --int8       a quarter of the size
    regard translate demo-onnx "I love you."                   through onnxruntime
    regard export int8 runs/demo --out demo-int8               a bundle of a quarter of the size

docs/guides/onnx.md shows a program that needs neither torch nor regard.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Bundle, Trust

if TYPE_CHECKING:
    from regard.bundle.manifest import Manifest

FORMATS = ("onnx", "int8")


def export(
    kind: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.")],
    bundle: Bundle,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write; an earlier export is replaced.")],
    int8: Annotated[bool, typer.Option("--int8", help="Matrices as 8-bit integers with a scale for each row.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Steps also output query, scores and context.")] = False,
    trust: Trust = None,
) -> None:
    from regard.suggest import suggest
    from regard.text.input_error import InputError

    if kind not in FORMATS:
        raise InputError(f"there is no format '{kind}': {suggest(kind, FORMATS, 'formats')}")
    if kind == "int8" and trace:
        raise InputError("--trace is for ONNX graphs: leave it out, or export onnx")
    manifest = _export_int8(bundle, out, trust or ()) if kind == "int8" else _export_onnx(bundle, out, int8, trace)
    size = sum(entry.bytes for entry in manifest.files.values())
    typer.echo(f"{out} ({size / 1e6:.1f} MB)")


def _export_onnx(bundle: Path, out: Path, int8: bool, trace: bool) -> "Manifest":
    from regard.runtime.onnx_folder import require_onnx

    require_onnx("regard export onnx")
    from regard.export.write_folder import export_onnx

    return export_onnx(bundle, out, int8=int8, trace=trace)


def _export_int8(path: Path, out: Path, trust: Sequence[str]) -> "Manifest":
    from regard.bundle.manifest import NAME, read_manifest
    from regard.bundle.store import load_bundle, save_int8
    from regard.text.input_error import InputError

    if (out / NAME).exists() and read_manifest(out / NAME).stored != "int8":
        raise InputError(f"cannot write {out}: this folder holds a bundle, which would be lost: name another folder")
    return save_int8(out, load_bundle(path, trust=trust))
