"""Serve models over HTTP: the API /api/v1, described by docs/reference/http-api.md, and the page of the studio.

Requests of many clients are decoded together. SIGTERM finishes what runs and refuses what comes. Each request is a
line of JSON on standard error. Another host than this machine needs a token.

Examples:
    regard serve demo-en-fr
    regard serve runs/demo demo-en-hi --port 8000
    REGARD_TOKEN=correct-horse regard serve demo-en-fr --host 0.0.0.0
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from regard.bounds import MOST
from regard.cli.options import Device, Trust, argument, number, value

MOST_PORT, MOST_QUEUE = 65_535, 10_000


def serve(
    bundles: Annotated[list[Path], argument("BUNDLE", "Models: names of `regard models`, bundles or run folders.")],
    host: Annotated[str, value("NAME", "Address to listen on; this machine alone if left out.")] = "127.0.0.1",
    port: Annotated[int, number("Port; 8765 if left out, 0 for any that is free.", MOST_PORT, 0)] = 8765,
    token: Annotated[
        str | None, value("SECRET", "What clients must send: Authorization: Bearer SECRET; $REGARD_TOKEN if left out.")
    ] = None,
    device: Device = "cpu",
    batch: Annotated[int, number("Hypotheses decoded together; 160 if left out.", MOST["beam"], 1)] = 160,
    queue: Annotated[int, number("Requests that may wait, more get 429; 128 if left out.", MOST_QUEUE, 1)] = 128,
    seconds: Annotated[int, number("Longest time for a request; 30 if left out.", 3600, 1)] = 30,
    trust: Trust = None,
) -> None:
    from regard.server.settings import Settings
    from regard.server.start import require_studio, run_server

    require_studio("serve")
    settings = Settings(
        bundles=tuple(bundles),
        host=host,
        port=port,
        token=token or os.environ.get("REGARD_TOKEN") or None,
        device=device,
        rows=batch,
        queue=queue,
        seconds=float(seconds),
        trust=tuple(trust or ()),
    )
    run_server(settings, say=lambda line: typer.echo(f"regard serve: {line}", err=True))
