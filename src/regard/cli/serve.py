"""Serve models over HTTP: the API /api/v1, described by docs/reference/http-api.md, and the page of the studio.

Requests of many clients are decoded together. After SIGTERM the server finishes running requests and rejects new ones.
Each request is logged as a line of JSON on standard error. An address that other machines can reach needs a token.

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
    host: Annotated[str, value("NAME", "Address to listen on (default: this machine only).")] = "127.0.0.1",
    port: Annotated[int, number("Port (default: 8765); 0 for any free one.", MOST_PORT, 0)] = 8765,
    token: Annotated[
        str | None, value("SECRET", "Clients must send Authorization: Bearer SECRET (default: $REGARD_TOKEN).")
    ] = None,
    device: Device = "cpu",
    batch: Annotated[int, number("Hypotheses decoded together (default: 160).", MOST["beam"], 1)] = 160,
    queue: Annotated[int, number("Requests in the queue; further ones get 429 (default: 128).", MOST_QUEUE, 1)] = 128,
    seconds: Annotated[int, number("Timeout of a request in seconds (default: 30).", 3600, 1)] = 30,
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
