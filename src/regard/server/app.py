"""The ASGI application: routes, errors and the page, behind the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import regard
from regard.server.errors import Refusal, from_exception, from_validation
from regard.server.guard import Guard, error_response, failure
from regard.server.page import Page
from regard.server.routes import decoding, judging, learning, operations, training_runs
from regard.server.service import Service
from regard.text.input_error import InputError

PREFIX = "/api/v1"
ABOUT = "Translate with models that show where they look. docs/reference/http-api.md describes every request."


def create_app(service: Service) -> Guard:
    """The application of a server; closing it finishes what runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="regard",
        version=regard.__version__,
        description=ABOUT,
        docs_url=None,  # it would load from a CDN
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        lifespan=lifespan,
    )
    app.state.service = service
    for router in (decoding.router, judging.router, learning.router, training_runs.router, operations.router):
        app.include_router(router, prefix=PREFIX)
    app.include_router(operations.router, include_in_schema=False)
    _handle_errors(app, Page())
    return Guard(app, service)


def _handle_errors(app: FastAPI, page: Page) -> None:
    """Every refusal becomes the same body; what is no refusal reaches the guard, which answers 500.

    Paths that no route takes are those of the page.
    """

    def refuse(request: Request, refusal: Refusal) -> Response:
        request.scope["regard_error"] = refusal.detail.code
        return error_response(refusal)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return refuse(request, from_validation(list(error.errors())))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and request.method in ("GET", "HEAD") and not request.url.path.startswith("/api/"):
            return page.answer(request)
        if isinstance(error.__cause__, Refusal):  # raised while the body was read
            return refuse(request, error.__cause__)
        code = {404: "not_found", 405: "not_allowed"}.get(error.status_code, "invalid")
        message = "there is no such path" if error.status_code == 404 else str(error.detail)
        return refuse(
            request, Refusal(error.status_code, code, message, hint=f"{PREFIX}/openapi.json lists the paths")
        )  # fmt: skip

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
