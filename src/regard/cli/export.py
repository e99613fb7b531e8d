"""Export a trained model: ONNX graphs, a page for the browser, or an int8 bundle for regard itself.

Examples:
    regard export onnx runs/demo --out demo-onnx
    regard export onnx runs/demo --out demo-onnx8 --int8       a quarter of the size
    regard translate demo-onnx "I love you."                   through onnxruntime
    regard export int8 runs/demo --out demo-int8               a bundle of a quarter of the size
    regard export web en-fr runs/demo --out page               a page that translates by itself

docs/guides/onnx.md shows a program that needs neither torch nor regard, docs/guides/web.md a page without a server.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Trust
from regard.suggest import suggest
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.bundle.manifest import Manifest

FORMATS = ("onnx", "web", "int8")


def export(
    kind: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.")],
    bundles: Annotated[
        list[Path],
        typer.Argument(metavar="BUNDLE", show_default=False, help="Run folders, bundles or names; several for web."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write; an earlier export is replaced.")],
    int8: Annotated[bool, typer.Option("--int8", help="Matrices as 8-bit integers with a scale for each row.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Steps also output query, scores and context.")] = False,
    trust: Trust = None,
) -> None:

    if kind not in FORMATS:
        raise InputError(f"there is no format '{kind}': {suggest(kind, FORMATS, 'formats')}")
    for name, given, only in (("--int8", int8, "onnx"), ("--trace", trace, "onnx"), ("--trust", trust, "int8")):
        if given and kind != only:
            raise InputError(f"{name} has no effect on the format {kind}, only on {only}: leave it out")
    if kind == "web":
        _export_web(bundles, out)
        return
    if len(bundles) > 1:
        raise InputError(f"{len(bundles)} bundles given, export {kind} writes one: name one, or export web")
    manifest = (
        _export_int8(bundles[0], out, trust or ()) if kind == "int8" else _export_onnx(bundles[0], out, int8, trace)
    )
    size = sum(entry.bytes for entry in manifest.files.values())
    typer.echo(f"{out} ({size / 1e6:.1f} MB)")


def _export_web(bundles: list[Path], out: Path) -> None:
    from regard.runtime.onnx_folder import require_onnx

    require_onnx("regard export web")
    from regard.bundle.find import find_bundle
    from regard.bundle.manifest import NAME, read_manifest
    from regard.export.web_page import PageModel, check_model, export_web
    from regard.lab.about_model import about_model, name_models

    models, seen = [], set[Path]()
    for name, origin, path in name_models(bundles):
        check_model(path)
        folder = find_bundle(path).resolve()
        if folder in seen:
            raise InputError(f"{path} is given twice: name each model once")
        seen.add(folder)
        about = about_model(read_manifest(folder / NAME), folder, name if origin == "package" else None)
        models.append(PageModel(path, {"id": name, "origin": origin, "can_step": True, **about}))
    sizes = export_web(models, out)
    large = {name: size for name, size in sizes.items() if name.startswith("models/") or name == "runtime.js"}
    for name, size in {**large, "page, fonts, licences": sum(sizes.values()) - sum(large.values())}.items():
        typer.echo(f"{size / 1e6:8.1f} MB  {name}")
    typer.echo(f"{out} ({sum(sizes.values()) / 1e6:.1f} MB); open {out / 'index.html'}, or serve it:", err=True)
    typer.echo(f"    python -m http.server --directory {out} 8000", err=True)


def _export_onnx(bundle: Path, out: Path, int8: bool, trace: bool) -> "Manifest":
    from regard.runtime.onnx_folder import require_onnx

    require_onnx("regard export onnx")
    from regard.export.write_folder import export_onnx

    return export_onnx(bundle, out, int8=int8, trace=trace)


def _export_int8(path: Path, out: Path, trust: Sequence[str]) -> "Manifest":
    from regard.bundle.bundle_folder import check_no_bundle_lost
    from regard.bundle.store import load_bundle, save_int8

    check_no_bundle_lost(out, _is_int8)
    return save_int8(out, load_bundle(path, trust=trust))


def _is_int8(folder: Path) -> bool:
    """Whether the folder holds an int8 bundle; False if its manifest is damaged."""
    from regard.bundle.manifest import FORMAT, NAME
    from regard.reading_files import read_object

    manifest = read_object(folder / NAME)
    return (manifest.get("format"), manifest.get("stored")) == (FORMAT, "int8")
