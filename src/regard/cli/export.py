"""Write a trained model for other runtimes: ONNX graphs of the encoder and of one decoder step, with their weights.

Examples:
    regard export onnx runs/demo --out demo-onnx
    regard export onnx runs/demo --out demo-int8 --int8        a quarter of the size
    regard translate demo-onnx "I love you."                   through onnxruntime

docs/guides/onnx.md shows a program that needs neither torch nor regard.
"""

from pathlib import Path
from typing import Annotated

import typer

FORMATS = ("onnx",)


def export(
    kind: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.")],
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle or run folder.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write; an earlier export is replaced.")],
    int8: Annotated[bool, typer.Option("--int8", help="Matrices as 8-bit integers with a scale for each row.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Steps also output query, scores and context.")] = False,
) -> None:
    from regard.runtime.onnx_folder import require_onnx
    from regard.text.errors import InputError

    if kind not in FORMATS:
        raise InputError(f"there is no format {kind!r}; there is {', '.join(FORMATS)}")
    require_onnx("regard export onnx")
    from regard.export.folder import export_onnx

    manifest = export_onnx(bundle, out, int8=int8, trace=trace)
    size = sum(entry.bytes for entry in manifest.files.values())
    typer.echo(f"{out} ({size / 1e6:.1f} MB)")
