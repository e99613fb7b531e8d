"""Quality by length, triage of translations without references, neighbours in the training text."""

import asyncio

from fastapi import APIRouter, Response
from starlette.requests import Request

from regard.server.errors import invalid, unsupported
from regard.server.neighbours import SAMPLE, Sample, decode_step, neighbours_answer
from regard.server.quality import MOST_SENTENCES, Job
from regard.server.recipe_data import first_pairs
from regard.server.routes.access import ERRORS, ServiceOf, as_json
from regard.server.schema.others import NeighboursAnswer, NeighboursRequest, TriageAnswer, TriageRequest
from regard.server.schema.runs import Metric, QualityAnswer
from regard.server.served_models import Loaded
from regard.server.service import Service
from regard.server.triage import chunks, ranked

router = APIRouter()


@router.get("/quality/{model}", response_model=QualityAnswer, responses=ERRORS, tags=["quality"])
async def quality(model: str, service: ServiceOf, metric: Metric = "chrf") -> Response:
    """Score by source length on the model's test set, with bootstrap intervals; computed in the background."""
    loaded = await service.load(model)
    job = service.qualities.get(loaded.version)
    if job is None:
        most, files = MOST_SENTENCES, service.settings.studio
        pairs = await asyncio.to_thread(first_pairs, loaded.translator.bundle, "test", most + 1, files=files)
        notes = [f"the first {most} sentences of its test set"] if len(pairs) > most else []
        job = service.qualities.get(loaded.version)  # another request may have been quicker
        if job is None:
            if not pairs:
                raise unsupported("the test set of this model is empty")
            job = Job(loaded.id, loaded.translator, pairs[:most], notes).start(service.batcher)
            service.qualities.put(loaded.version, job)
    return as_json(await asyncio.to_thread(job.answer, metric))


@router.post("/triage", response_model=TriageAnswer, responses=ERRORS, tags=["quality"])
async def triage(body: TriageRequest, request: Request, service: ServiceOf) -> Response:
    """Which translations to look at first, without references."""
    if body.translations is not None and len(body.translations) != len(body.lines):
        raise invalid("translations", f"{len(body.translations)} given for {len(body.lines)} lines: one for each")
    loaded = await service.load(body.model)
    found = []
    for work in chunks(body, loaded):
        found += await service.call(request, work)
    return as_json(TriageAnswer(model=loaded.id, forced=body.translations is not None, rows=ranked(found)))


@router.post("/neighbours", response_model=NeighboursAnswer, responses=ERRORS, tags=["quality"])
async def neighbours(body: NeighboursRequest, request: Request, service: ServiceOf) -> Response:
    """Training sentences with a similar decoder state or context; the first request of a model takes seconds."""
    loaded = await service.load(body.model)
    if not (loaded.about.can_step and loaded.about.has_attention):
        raise unsupported(f"{loaded.id} has no query and no context to compare", "take a model with attention")
    text = await service.call(request, lambda abandoned: decode_step(body, loaded, abandoned))
    sample = await _sample(loaded, service)
    while not sample.complete:
        await service.call(request, lambda abandoned: sample.grow(loaded.translator, abandoned))
    return as_json(await asyncio.to_thread(neighbours_answer, body, loaded, text, sample))


async def _sample(loaded: Loaded, service: Service) -> Sample:
    """The training sentences of a model, decoded as far as earlier requests got."""
    sample = service.samples.get(loaded.version)
    if sample is None:
        files = service.settings.studio
        pairs = await asyncio.to_thread(first_pairs, loaded.translator.bundle, "train", SAMPLE, files=files)
        sample = service.samples.get(loaded.version) or Sample.of(pairs)
        service.samples.put(loaded.version, sample)
    return sample
