"""Describe a bundle: model and size, vocabularies, training, versions."""

from typing import Annotated

import typer

from regard.cli.options import Bundle, Trust, flag


def info(
    bundle: Bundle,
    as_json: Annotated[bool, flag("--json", "Print the manifest as JSON, checksums included.")] = False,
    trust: Trust = None,
) -> None:
    from regard.lab.describe import describe
    from regard.runtime.onnx_folder import load_any

    loaded = load_any(bundle, trust=trust or ())
    if as_json:
        typer.echo(loaded.manifest.model_dump_json(indent=2))
        return
    for name, value in describe(loaded):
        typer.echo(f"{name:<12}{value}")
