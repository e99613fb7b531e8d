"""Health and metrics."""

import time

from fastapi import APIRouter, Response

import regard
from regard.server.routes.access import ServiceOf, as_json
from regard.server.schema.others import Health

router = APIRouter()


@router.get("/health", response_model=Health, responses={503: {"model": Health}}, tags=["operations"])
def health(service: ServiceOf) -> Response:
    """200 while the server takes requests, 503 while it stops."""
    stopping = service.stopping()
    body = Health(
        status="stopping" if stopping else "ok",
        version=regard.__version__,
        models=len(service.catalogue.entries()),
        queued=service.batcher.waiting,
        running=service.batcher.running,
        seconds=round(time.monotonic() - service.started, 3),
    )
    return as_json(body, 503 if stopping else 200)


@router.get(
    "/metrics",
    tags=["operations"],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(service: ServiceOf) -> Response:
    """Prometheus text."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
