"""See where models look, in the browser: translate, walk through the steps, compare, draw beams, train the demo.

Without a bundle the page offers the models of the package and those of the runs folder. Everything runs on this
machine, without network access.

Examples:
    regard studio
    regard studio runs/demo demo-en-hi
    regard studio --attention weights.json
"""

import logging
import os
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Device, Trust, argument, flag, input_file, number, value


def studio(
    bundles: Annotated[
        list[Path] | None, argument("BUNDLE", "Models (default: those of the package and of --runs).")
    ] = None,
    runs: Annotated[Path, value("DIR", "Folder of training runs (default: runs).")] = Path("runs"),
    host: Annotated[str, value("NAME", "Address to listen on (default: this machine only).")] = "127.0.0.1",
    port: Annotated[int, number("Port (default: 8765); 0 for any free one.", 65_535, 0)] = 8765,
    token: Annotated[
        str | None, value("SECRET", "Password of the page, for another --host (default: $REGARD_TOKEN).")
    ] = None,
    attention: Annotated[
        list[Path] | None, input_file("Show this matrix or tensor of any model: .json, .npz, .npy (repeatable).")
    ] = None,
    no_browser: Annotated[bool, flag("--no-browser", "Only print the address.")] = False,
    device: Device = "cpu",
    trust: Trust = None,
) -> None:
    from regard.server.settings import Settings
    from regard.server.start import require_studio, run_server

    require_studio("studio")
    settings = Settings(
        bundles=tuple(bundles or ()),
        host=host,
        port=port,
        token=token or os.environ.get("REGARD_TOKEN") or None,
        studio=True,
        runs=runs,
        attention=tuple(attention or ()),
        device=device,
        trust=tuple(trust or ()),
    )
    run_server(
        settings,
        say=lambda line: typer.echo(f"regard studio: {line}", err=True),
        browser=not no_browser,
        log=logging.WARNING,
    )
