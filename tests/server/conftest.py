"""Real servers for the tests: uvicorn in a thread or `regard` as a program, real sockets, models of the package."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra studio: pip install 'regard[studio]'")
import httpx
import uvicorn

from processes import LIMIT, started, wait_until
from regard.server.app import create_app
from regard.server.service import Service
from regard.server.settings import Settings

REGARD = (sys.executable, "-m", "regard")


@contextmanager
def running(settings: Settings) -> Iterator[tuple[httpx.Client, Service, uvicorn.Server]]:
    """A server on a free port for the length of the block."""
    service = Service(settings)
    service.warm_up()
    config = uvicorn.Config(
        create_app(service), port=0, http="h11", lifespan="on", ws="none", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    service.stopping = lambda: server.should_exit
    service.connections = lambda: server.server_state.connections
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    deadline = monotonic() + 60
    while not server.started:
        assert monotonic() < deadline, "the server did not start"
        sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            yield client, service, server
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive(), "the server did not stop"


@contextmanager
def served(log: Path, *arguments: str, seconds: float = LIMIT) -> "Iterator[tuple[Popen[Any], httpx.Client]]":
    """A running `regard serve` or `regard studio` on a free port."""
    with (
        log.open("w") as file,
        started([*REGARD, *arguments, "--port", "0"], seconds=seconds, stderr=file, stdout=PIPE) as process,
    ):
        wait_until(lambda: re.search(r"http://127\.0\.0\.1:\d+", log.read_text()), process, "it printed its address")
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        assert found is not None
        with httpx.Client(base_url=found[0], timeout=60, trust_env=False) as client:
            wait_until(lambda: _answers(client), process, "it answered")
            yield process, client


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """`regard studio` in a process of its own, where no test checks types: quick enough for whole test sets."""
    folder = tmp_path_factory.mktemp("studio")
    arguments = ("studio", "demo-en-fr", "--no-browser", "--runs", str(folder / "runs"))
    with served(folder / "log", *arguments) as (_, client):
        yield client


@pytest.fixture(scope="session")
def serving() -> Iterator[tuple[httpx.Client, Service, uvicorn.Server]]:
    """`regard serve demo-en-fr demo-en-hi`."""
    with running(Settings(bundles=("demo-en-fr", "demo-en-hi"), seconds=120.0)) as found:
        yield found


@pytest.fixture
def client(serving: tuple[httpx.Client, Service, uvicorn.Server]) -> httpx.Client:
    return serving[0]


@pytest.fixture
def post(client: httpx.Client) -> Any:
    """post("/translate", text="…"): the JSON of an answer with status 200."""

    def send(path: str, **body: Any) -> Any:
        answer = client.post(f"/api/v1{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return send


@pytest.fixture
def refused(client: httpx.Client) -> Any:
    """refused(422, "/translate", text="…"): the error of an answer with this status."""

    def send(status: int, path: str, **body: Any) -> Any:
        answer = client.post(f"/api/v1{path}", json=body)
        assert answer.status_code == status, answer.text
        assert set(answer.json()) == {"error"}
        return answer.json()["error"]

    return send
