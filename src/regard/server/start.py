"""Starts a server: checks the extra, binds the port, prints the address, runs until a signal."""

import json
import logging
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec

from regard.server.settings import Settings
from regard.text.input_error import InputError

NEEDED = ("fastapi", "uvicorn")
GRACE = 5
"""Seconds beyond the limit of a request that stopping may take."""


class NoServer(InputError):
    """The address cannot be used."""


def require_studio(verb: str) -> None:
    """Raise if the packages of the extra are missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            f"regard {verb} needs {' and '.join(missing)}, not installed here: pip install 'regard[studio]'"
        )


def run_server(
    settings: Settings,
    *,
    say: Callable[[str], None] = lambda line: None,
    browser: bool = False,
    log: int = logging.INFO,
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish running requests, reject new ones, and return."""
    import uvicorn

    from regard.server.app import create_app
    from regard.server.service import Service

    service = Service(settings)
    bound = _bind(settings)
    url = _url(settings, bound.getsockname()[1])
    service.warm_up()
    _log_lines(log)
    config = uvicorn.Config(
        create_app(service),
        lifespan="on",
        http="h11",  # it bounds the size of headers
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.seconds) + GRACE,
        timeout_keep_alive=30,
    )
    server = uvicorn.Server(config)
    service.stopping = lambda: server.should_exit
    service.connections = lambda: server.server_state.connections
    say(f"{url}  (Ctrl-C stops it)")
    if browser:
        threading.Thread(target=_open, args=(server, url, settings.token), daemon=True).start()
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again once it is done
        server.run(sockets=[bound])
    service.close()


def _bind(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise NoServer(
            f"cannot listen on {settings.host}, port {settings.port} ({reason}): "
            "name another with --port, or 0 for any that is free"
        ) from None
    return bound


def _url(settings: Settings, port: int) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}/"


def _open(server: object, url: str, token: str | None) -> None:
    """Open the page once the server answers."""
    waiting = threading.Event()
    while not getattr(server, "started", False):
        if waiting.wait(0.05) or getattr(server, "should_exit", False):
            return
    webbrowser.open(url if token is None else f"{url}?token={token}")


class _JsonLines(logging.Formatter):
    """One JSON object a line, with the time; messages that are JSON already keep their keys."""

    def format(self, record: logging.LogRecord) -> str:
        message = super().format(record)
        try:
            content = json.loads(message)
        except ValueError:
            content = {"event": message}
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"time": moment, "level": record.levelname.lower(), **content}, ensure_ascii=False)


def _log_lines(level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    for name, least in (("regard.server", level), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(least)
