"""The ASGI application: routes, errors and the page, behind the guard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_type_hints

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import regard
from regard.bounds import cut
from regard.server.errors import Refusal, from_exception, from_validation, no_json
from regard.server.guard import Guard, error_response, failure
from regard.server.page import Page
from regard.server.routes import decoding, judging, learning, operations, training_runs
from regard.server.service import Service
from regard.server.slow_clients import close_slow
from regard.text.input_error import InputError

PREFIX = "/api/v1"
ABOUT = "Translate with models that show where they look. docs/reference/http-api.md describes every request."


def create_app(service: Service) -> Guard:
    """The application of a server; closing it finishes what runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        closing = asyncio.create_task(close_slow(lambda: service.connections(), service.settings.seconds))
        yield
        closing.cancel()
        service.close()

    app = FastAPI(
        title="regard",
        version=regard.__version__,
        description=ABOUT,
        docs_url=None,  # it would load from a CDN
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    for router in (decoding.router, judging.router, learning.router, training_runs.router, operations.router):
        app.include_router(router, prefix=PREFIX)
    app.include_router(operations.router, include_in_schema=False)
    _handle_errors(app, Page())
    return Guard(app, service)


def _handle_errors(app: FastAPI, page: Page) -> None:
    """Every Refusal becomes an error body; other exceptions reach the guard, which answers 500.

    Paths without a route belong to the page.
    """

    def refuse(request: Request, refusal: Refusal) -> Response:
        request.scope["regard_error"] = refusal.detail.code
        return error_response(refusal)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        accepts = get_type_hints(request.scope["endpoint"]).get("body")
        return refuse(request, from_validation(list(error.errors()), getattr(accepts, "model_fields", ())))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and request.method in ("GET", "HEAD") and not request.url.path.startswith("/api/"):
            found = page.answer(request)
            return refuse(request, found) if isinstance(found, Refusal) else found
        if isinstance(error.__cause__, Refusal):  # raised while the body was read
            return refuse(request, error.__cause__)
        if error.status_code == 400:  # FastAPI could not read the body
            return refuse(request, no_json())
        code = {404: "not_found", 405: "not_allowed"}.get(error.status_code, "invalid")
        messages = {404: "there is no such path", 405: f"this path has no method {cut(request.method)}"}
        message = messages.get(error.status_code, str(error.detail))
        allow, hint = (error.headers or {}).get("Allow"), f"{PREFIX}/openapi.json lists the paths"
        return refuse(request, Refusal(error.status_code, code, message, hint=hint, allow=allow))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return error_response(failure())  # raised again for the guard, which logs it

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        return refuse(request, error)

    @app.exception_handler(InputError)
    async def wrong(request: Request, error: InputError) -> Response:
        refusal = from_exception(error)
        assert refusal is not None
        return refuse(request, refusal)

    @app.exception_handler(ValueError)
    async def impossible(request: Request, error: ValueError) -> Response:
        refusal = from_exception(error)
        if refusal is None:
            raise error
        return refuse(request, refusal)
