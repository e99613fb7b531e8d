"""Shared by all routes: the service of the server, and answers as JSON without a second validation."""

from typing import Annotated, Any

from fastapi import Depends, Response
from pydantic import BaseModel
from starlette.requests import Request

from regard.server.schema.base import error_responses
from regard.server.service import Service

ERRORS: dict[int | str, dict[str, Any]] = error_responses(400, 401, 403, 404, 413, 422, 429, 503)
QUICK_ERRORS: dict[int | str, dict[str, Any]] = error_responses(401, 403, 404, 422, 503)


async def find_service(request: Request) -> Service:
    """Async, because FastAPI runs other dependencies in a thread."""
    service: Service = request.app.state.service
    return service


ServiceOf = Annotated[Service, Depends(find_service)]


def as_json(answer: BaseModel, status: int = 200) -> Response:
    return Response(answer.model_dump_json(), status_code=status, media_type="application/json")
