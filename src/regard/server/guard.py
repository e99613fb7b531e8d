"""ASGI middleware in front of every request: Host, Origin, token, body size, stopping, metrics, one log line each."""

import json
import logging
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response

from regard.server.errors import Refusal
from regard.server.service import Service
from regard.server.settings import LOOPBACK, WHY_TOKEN

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LOG = logging.getLogger("regard.server")
COOKIE = "regard_token"
OPEN = ("/health", "/metrics", "/api/v1/health", "/api/v1/metrics")
"""Paths for machines that watch the server: they show no text and need no token."""
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (
        b"content-security-policy",
        b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        b"font-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'self'",
    ),
)

_TOKEN_FORM = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>regard studio</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 15vh auto; padding: 0 1rem }}</style>
<h1>regard studio</h1>
<p>This server needs its token: without one {WHY_TOKEN}.</p>
<form><label>Token <input type="password" name="token" required autofocus></label> <button>Open</button></form>
</html>
"""


class Guard:
    """Rejects requests before the application sees them, and logs every answer."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, answered = time.perf_counter(), _Answered(send)
        error: str | None = None
        try:
            early = self._refused(scope)
            if early is not None:
                await early(scope, receive, answered)
            else:
                await self._app(_head_as_get(scope), self._limited(receive), answered)
        except Refusal as refusal:
            error = refusal.detail.code
            await _refuse(refusal, scope, receive, answered)
        except Exception:
            error = "failed"
            LOG.error(json.dumps({"event": "failure", "path": scope["path"], "traceback": traceback.format_exc()}))
            await _refuse(failure(), scope, receive, answered)
        seconds = time.perf_counter() - begun
        self._report(scope, answered, seconds, error or scope.get("regard_error"))

    def _refused(self, scope: Scope) -> Response | None:
        """Raises, or answers without the application: a browser gets a form for the token, then a cookie."""
        headers, settings = Headers(scope=scope), self._service.settings
        self._check_origin(headers)
        path: str = scope["path"]
        if settings.token is not None and path not in OPEN:
            given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
            if scope["method"] == "GET" and not path.startswith("/api/") and _same(given, settings.token):
                response = RedirectResponse(path, status_code=303)
                response.set_cookie(COOKIE, settings.token, httponly=True, samesite="strict")
                return response
            if not _same(_token(headers), settings.token):
                if "text/html" in headers.get("accept", "") and not path.startswith("/api/"):
                    scope["regard_error"] = "unauthorized"
                    return HTMLResponse(_TOKEN_FORM, status_code=401)
                raise Refusal(
                    401, "unauthorized", f"this server needs its token: without one {WHY_TOKEN}",
                    hint="send Authorization: Bearer TOKEN, or open /?token=TOKEN in a browser",
                )  # fmt: skip
        if self._service.stopping() and path not in OPEN:
            raise Refusal(503, "stopping", "the server is stopping", hint="retry later")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:18]) > settings.body:
            raise self._too_large()
        return None

    def _check_origin(self, headers: Headers) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        local = self._service.settings.host in LOOPBACK
        if local and _hostname(host) not in LOOPBACK:
            raise Refusal(
                403, "forbidden", f"Host '{host[:80]}' is not this server's: it answers to localhost alone",
                hint="open it as http://127.0.0.1 with its port",
            )  # fmt: skip
        if origin is not None and _netloc(origin) != host.lower():
            raise Refusal(
                403, "forbidden", f"a page of '{origin[:80]}' may not use this server",
                hint="requests come from the server's own page or from programs, which send no Origin",
            )  # fmt: skip

    def _too_large(self) -> Refusal:
        most = self._service.settings.body
        return Refusal(413, "too_large", f"the body has more than {most:,} bytes", hint="send less at once")

    def _limited(self, receive: Receive) -> Receive:
        """The body, rejected once it is too large: not every client sends Content-Length."""
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._service.settings.body:
                raise self._too_large()
            return message

        return limited

    def _report(self, scope: Scope, answered: "_Answered", seconds: float, error: str | None) -> None:
        route = scope.get("route")
        path, method = getattr(route, "path", "other"), str(scope["method"])
        method = method if method in ("GET", "POST", "DELETE", "HEAD") else "other"
        self._service.metrics.request(method, path, answered.status, seconds)
        if error is not None:
            self._service.metrics.rejected(error)
        line = {"event": "request", "method": method, "path": path, "status": answered.status,
                "ms": round(1000 * seconds, 2), **({"error": error} if error else {})}  # fmt: skip
        LOG.info(json.dumps(line))


class _Answered:
    """Forwards the answer, adds the security headers, and keeps the status; 499: the client closed the connection."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 499

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await self._send(message)

    @property
    def begun(self) -> bool:
        return self.status != 499


async def _refuse(refusal: Refusal, scope: Scope, receive: Receive, answered: _Answered) -> None:
    if answered.begun or refusal.status == 499:
        return
    await error_response(refusal)(scope, receive, answered)


def _head_as_get(scope: Scope) -> Scope:
    """Load balancers send HEAD /health; uvicorn leaves the body out of the answer."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" and scope["path"] in OPEN else scope


def error_response(refusal: Refusal) -> Response:
    return Response(refusal.body, refusal.status, refusal.headers, "application/json")


def failure() -> Refusal:
    """The answer for an internal error."""
    return Refusal(500, "failed", "internal error of the server", hint="its log has the traceback; please report it")


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _token(headers: Headers) -> str:
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value
