"""Training runs: list, start, stop, follow, replay."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from regard.server.errors import Refusal, unsupported
from regard.server.routes.access import ERRORS, QUICK_ERRORS, ServiceOf, as_json
from regard.server.run_events import stream
from regard.server.run_listing import is_training, preparing
from regard.server.run_replay import NOT_YET, read_replay
from regard.server.schema.base import error_responses
from regard.server.schema.runs import ReplayAnswer, Run, RunsAnswer, TrainRequest
from regard.server.snapshot_listener import replay_of_checkpoints

router = APIRouter(tags=["runs"])
MOST_STREAMS = 64
"""Clients that follow runs at once."""


@router.get("/runs", response_model=RunsAnswer, responses=QUICK_ERRORS)
def runs(service: ServiceOf) -> Response:
    """The runs below --runs, the newest first."""
    trainer, folders = service.trainer, service.runs.folders()
    found = [service.runs.run(folder, trainer.find(folder.name)) for folder in folders]
    names = {folder.name for folder in folders}
    early = [preparing(one) for one in trainer.all() if one.folder.name not in names]
    return as_json(RunsAnswer(runs=[*early, *found], can_train=trainer.can_train))


@router.post("/runs", response_model=Run, status_code=201, responses=error_responses(400, 401, 403, 409, 413, 422, 503))
def start(body: TrainRequest, service: ServiceOf) -> Response:
    """Train the demo of the phrasebook, in a process of its own; one at a time."""
    return as_json(preparing(service.trainer.start(body)), 201)


@router.delete("/runs/{run}", status_code=204, response_class=Response, responses=QUICK_ERRORS)
def stop(run: str, service: ServiceOf) -> Response:
    """Stop a run that this server started; it saves its checkpoint first."""
    if service.trainer.find(run) is None:
        if not service.settings.studio:
            raise unsupported("this server does not train", hint="regard studio does")
        service.runs.find(run)
        raise unsupported(f"{run} was not started by this server", hint="stop it where it was started: Ctrl-C saves")
    service.trainer.stop(run)
    return Response(status_code=204)


@router.get(
    "/runs/{run}/events",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **error_responses(401, 403, 404, 422, 429, 503),
    },
)
async def events(run: str, service: ServiceOf, last_event_id: Annotated[str, Header()] = "0") -> Response:
    """Server-sent events of a run, all since its start, then live ones: the lines of its journal.

    started {total_steps, parameters, train_pairs …}, step {step, epoch, loss, rate, gradient_norm, tokens_per_second,
    seconds}, validated {step, train_loss, loss, metric, score, best, sample [source, reference, translation]},
    averaged, warning {step, message}, finished {step, reason, best_score, best_step}; snapshot {step} when /replay has
    a new one; gone {message} when the process ended without `finished`.
    """
    training = service.trainer.find(run)
    folder = await asyncio.to_thread(service.runs.find, run) if training is None else training.folder
    if service.streams >= MOST_STREAMS:
        raise Refusal(429, "busy", f"{MOST_STREAMS} clients follow runs already", hint="retry after a second")
    after = int(last_event_id) if re.fullmatch("[0-9]{1,15}", last_event_id) else 0

    def alive() -> bool:
        return is_training(folder) if training is None else training.alive

    async def body() -> AsyncIterator[str]:
        service.streams += 1
        try:
            async for event in stream(folder, after, alive, service.stopping):
                yield event
        finally:
            service.streams -= 1

    return StreamingResponse(body(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


@router.get("/runs/{run}/replay", response_model=ReplayAnswer, responses=ERRORS)
async def replay(run: str, request: Request, service: ServiceOf) -> Response:
    """Attention of pinned sentences, checkpoint by checkpoint."""
    training = service.trainer.find(run)
    folder = await asyncio.to_thread(service.runs.find, run) if training is None else training.folder
    known = await asyncio.to_thread(read_replay, folder)
    if known is not None:
        return as_json(known)
    if training is not None:
        return as_json(ReplayAnswer(run=run, sentences=[], snapshots=[], reason=NOT_YET))
    pinned, trust = (await asyncio.to_thread(service.runs.summary, folder)).samples, service.settings.trust
    return as_json(await service.call(request, lambda abandoned: replay_of_checkpoints(folder, pinned, trust)))
