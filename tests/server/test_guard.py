"""What a server refuses, and how: hosts, origins, tokens, bodies, full queues, time; health, metrics and logs."""

import json
import logging
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import Any

import httpx
import pytest
import uvicorn

from regard.runtime.batcher import Ticket
from regard.server.service import Service
from regard.server.settings import Settings
from regard.text.input_error import InputError

from .conftest import running

CAT = "the black cat sat on the mat"
Serving = tuple[httpx.Client, Service, uvicorn.Server]


@pytest.fixture(scope="module")
def tight() -> Iterator[Serving]:
    """A server with a token and small limits."""
    settings = Settings(bundles=("demo-en-fr",), token="correct-horse", queue=2, seconds=1.0, body=2000)
    with running(settings) as found:
        yield found


@pytest.fixture
def authorised(tight: Serving) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=tight[0].base_url, headers={"Authorization": "Bearer correct-horse"}, trust_env=False, timeout=60
    ) as client:
        yield client


@pytest.fixture
def blocked(tight: Serving) -> Iterator[None]:
    """The decoding thread is busy for the length of a test."""
    begun, over = Event(), Event()

    def work(abandoned: Callable[[], bool]) -> bool:
        begun.set()
        return over.wait(60)

    ticket = tight[1].batcher.call(work)
    assert begun.wait(60)
    yield
    over.set()
    ticket.future.result(60)


def _code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "localhost.evil.example:80"}, {"Host": ""}, {"Host": "[::bad"},
     {"Origin": "http://evil.example"}, {"Origin": "http://[::bad"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}],
)  # fmt: skip
def test_foreign_hosts_and_origins_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    for path in ("/api/v1/models", "/health", "/"):
        assert _code(client.get(path, headers=headers)) == (403, "forbidden")


def test_watchers_may_send_head(client: httpx.Client) -> None:
    answer = client.head("/health")
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_servers_own_page_may_use_it(client: httpx.Client) -> None:
    own = {"Origin": str(client.base_url).rstrip("/")}
    assert client.get("/api/v1/models", headers=own).status_code == 200
    assert client.get("/api/v1/models", headers={"Host": "localhost:1"}).status_code == 200


def test_a_token_is_needed_except_by_those_who_watch(tight: Serving, authorised: httpx.Client) -> None:
    client = tight[0]
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic correct-horse"}):
        answer = client.get("/api/v1/models", headers=headers)
        assert _code(answer) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert client.get("/health").status_code == client.get("/api/v1/metrics").status_code == 200
    assert authorised.get("/api/v1/models").status_code == 200
    assert client.get("/api/v1/models?token=correct-horse").status_code == 401


def test_a_browser_trades_the_token_for_a_cookie(tight: Serving) -> None:
    with httpx.Client(base_url=tight[0].base_url, trust_env=False) as browser:
        answer = browser.get("/?token=correct-horse")
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert browser.get("/api/v1/models").status_code == 200


def test_a_browser_without_the_token_gets_a_form(tight: Serving) -> None:
    client, _, _ = tight
    for address in ("/", "/?token=wrong", "/assets/none.js"):
        answer = client.get(address, headers={"Accept": "text/html,application/xhtml+xml"})
        assert (answer.status_code, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
        assert 'name="token"' in answer.text
        assert "everybody who reaches this port" in answer.text
        assert "wrong" not in answer.text
    answer = client.get("/api/v1/models", headers={"Accept": "text/html"})
    assert answer.json()["error"]["code"] == "unauthorized"
    assert 'reason="unauthorized"' in client.get("/metrics").text


def test_another_host_without_a_token_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"--host 0.0.0.0 opens the server to other machines: everybody .* --token"):
        Settings(host="0.0.0.0")
    with pytest.raises(InputError, match="at least 8 printable"):
        Settings(host="0.0.0.0", token="short")
    assert Settings(host="0.0.0.0", token="long enough").token == "long enough"


def test_bodies_that_are_too_large_or_no_json(tight: Serving, authorised: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(10):
            yield b'{"text": "' + b"x" * 500

    json_body = {"Content-Type": "application/json"}
    assert _code(authorised.post("/api/v1/translate", json={"text": "x" * 3000})) == (413, "too_large")
    assert _code(authorised.post("/api/v1/translate", content=chunks(), headers=json_body)) == (413, "too_large")
    assert _code(authorised.post("/api/v1/translate", content=b"{nope", headers=json_body)) == (400, "invalid")
    assert _code(authorised.post("/api/v1/translate", content=b"[1]", headers=json_body)) == (422, "invalid")
    assert _code(authorised.post("/api/v1/translate", content=b"\xff\xfe", headers=json_body))[0] in (400, 422)


def test_texts_that_are_too_long(client: httpx.Client) -> None:
    answer = client.post("/api/v1/translate", json={"text": "x" * 4001})
    assert _code(answer) == (413, "too_long")
    assert answer.json()["error"]["field"] == "text"


def test_a_full_queue_is_busy_and_waiting_too_long_a_timeout(authorised: httpx.Client, blocked: None) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: authorised.post("/api/v1/translate", json={"text": CAT}), range(8)))
    found = sorted(map(_code, answers))
    assert found == [(429, "busy")] * 6 + [(503, "timeout")] * 2
    assert all(answer.headers["Retry-After"] == "1" for answer in answers)


def test_a_client_that_disconnects_frees_its_place(tight: Serving, authorised: httpx.Client, blocked: None) -> None:
    _, service, _ = tight
    body = json.dumps({"text": CAT}).encode()
    port = authorised.base_url.port
    assert port is not None
    request = (
        f"POST /api/v1/translate HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer correct-horse\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request + body)
        _until(lambda: service.batcher.waiting == 1)
    _until(lambda: service.batcher.waiting == 0)


def _raw(port: int, *parts: bytes, read: bool = True) -> bytes:
    """What the server answers to a client that sends these parts and then nothing more."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for part in parts:
            connection.sendall(part)
        try:
            return connection.recv(1 << 20) if read else b""
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow",
        b"POST /api/v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer correct-horse\r\n"
        b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
    ],
    ids=["nothing", "half a header", "half a body"],
)
def test_a_client_that_does_not_finish_its_request_is_closed(tight: Serving, sent: bytes) -> None:
    port = tight[0].base_url.port
    assert port is not None
    assert _raw(port, sent) == b""


def test_a_client_that_does_not_read_its_answer_is_closed(tight: Serving, authorised: httpx.Client) -> None:
    head = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer correct-horse\r\n\r\n"
    port = authorised.base_url.port
    assert port is not None
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        with pytest.raises(ConnectionError):
            connection.sendall(head * 100_000)  # more answers than the buffers of both ends hold


def test_absurd_headers_are_refused_and_the_server_goes_on(client: httpx.Client) -> None:
    port = client.base_url.port
    assert port is not None
    begin = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for rest in (b"X: " + b"a" * 1_000_000, b"X: a\r\n" * 100_000, b"\xff\xfe: \x00"):
        answer = b""
        with suppress(ConnectionError):
            answer = _raw(port, begin, rest, b"\r\n\r\n")
        assert answer[9:12] in (b"", b"400")
    assert client.get("/health").status_code == 200


def test_work_of_a_client_that_is_gone_is_abandoned(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of a running request ends at its next step."""
    client, service, _ = serving
    tickets: list[Ticket] = []
    seen: list[bool] = []
    submit = service.batcher.submit

    def watched(kind: Any, together: Any, item: Any, rows: int = 1) -> Ticket:
        def slow(items: Any, abandoned: Callable[[], bool]) -> Any:
            _until(abandoned)
            seen.append(abandoned())
            return together(items, abandoned)

        tickets.append(submit(kind, slow, item, rows))
        return tickets[-1]

    monkeypatch.setattr(service.batcher, "submit", watched)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/api/v1/translate", json={"text": CAT}, timeout=0.2)
    _until(lambda: bool(seen))
    _until(tickets[0].future.cancelled)
    monkeypatch.undo()
    assert client.post("/api/v1/translate", json={"text": CAT}).status_code == 200


def _until(condition: Callable[[], object]) -> None:
    waiting = Event()
    for _ in range(6000):
        if condition():
            return
        waiting.wait(0.01)
    raise AssertionError("a minute was over before the condition held")


def test_paths_and_methods_that_do_not_exist(client: httpx.Client) -> None:
    assert _code(client.get("/api/v1/nothing")) == (404, "not_found")
    assert _code(client.get("/api/v1/translate")) == (405, "not_allowed")
    assert _code(client.post("/nothing")) == (404, "not_found")
    assert _code(client.get("/nothing.html")) == (404, "not_found")
    assert _code(client.get("/api/v1/models/")) == (404, "not_found")
    assert client.get("/api/v1/translate").headers["Allow"] == "POST"


def _logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The last two translations in the log, which may begin with a line about a request of the test before."""
    lines = [json.loads(message) for message in caplog.messages]
    return [line for line in lines if (line.get("method"), line.get("path")) == ("POST", "/translate")][-2:]


def test_requests_are_counted_and_logged_without_their_text(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("regard.server").propagate = True
    with caplog.at_level(logging.INFO, logger="regard.server"):
        client.post("/api/v1/translate", json={"text": CAT})
        client.post("/api/v1/translate", json={"text": CAT, "beam": 99})
        _until(lambda: [line["status"] for line in _logged(caplog)] == [200, 422])
    lines = _logged(caplog)
    assert [line.get("error") for line in lines] == [None, "invalid"]
    assert all(line["ms"] > 0 for line in lines)
    assert "cat" not in caplog.text
    text = client.get("/metrics").text
    for name in ("requests_total", "request_seconds_bucket", "batch_size_sum", "queue_length", "rejected_total"):
        assert f"\nregard_{name}" in text
    counts = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"}
    assert counts['regard_rejected_total{reason="invalid"}'] >= 1
    assert counts["regard_decoded_pieces_total"] >= 9


def test_every_answer_has_headers_that_keep_the_page_local(client: httpx.Client) -> None:
    for path in ("/", "/api/v1/models", "/api/v1/nothing"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_api_is_described_without_a_page_that_loads_from_elsewhere(client: httpx.Client) -> None:
    described = client.get("/api/v1/openapi.json").json()
    assert {"/api/v1/translate", "/api/v1/step", "/api/v1/compare", "/api/v1/beam/{beam_id}"} <= set(described["paths"])
    assert "ErrorBody" in described["components"]["schemas"]
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_a_server_that_stops_refuses_and_says_so() -> None:
    with running(Settings(bundles=("demo-en-fr",))) as (client, service, _):
        assert client.get("/health").json()["status"] == "ok"
        service.stopping = lambda: True
        answer = client.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (503, "stopping")
        assert _code(client.post("/api/v1/translate", json={"text": CAT})) == (503, "stopping")
