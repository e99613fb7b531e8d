"""Models, translations, steps, comparisons, beam trees and the occlusion row."""

import asyncio
import time
from itertools import combinations

from fastapi import APIRouter, Response
from starlette.requests import Request

from regard.search import SearchTree
from regard.server.answers import step_answer, translate_answer
from regard.server.beam_tree import beam_answer
from regard.server.comparing import compared, difference
from regard.server.errors import Refusal, from_exception, invalid, not_found, unsupported
from regard.server.gold import gold_links, learn, learned
from regard.server.occluding import occlusion_answer
from regard.server.planning import plan
from regard.server.routes.access import ERRORS, QUICK_ERRORS, ServiceOf, as_json
from regard.server.schema.translating import Decoding, TranslateAnswer, TranslateRequest
from regard.server.schema.views import (
    BeamAnswer,
    CompareAnswer,
    Compared,
    CompareRequest,
    ModelsAnswer,
    OcclusionAnswer,
    OcclusionRequest,
    StepAnswer,
    StepRequest,
)
from regard.server.service import Service

router = APIRouter()


@router.get("/models", response_model=ModelsAnswer, responses=QUICK_ERRORS, tags=["models"])
def models(service: ServiceOf) -> Response:
    """The models, the default model and the limits."""
    catalogue = service.catalogue
    return as_json(
        ModelsAnswer(
            models=catalogue.abouts(),
            default=catalogue.default,
            limits=service.settings.limits,
            attention_files=len(service.settings.attention),
        )
    )


@router.post("/translate", response_model=TranslateAnswer, responses=ERRORS, tags=["translate"])
async def translate(body: TranslateRequest, request: Request, service: ServiceOf) -> Response:
    """Translate a text, or score and align a given target."""
    return as_json(await _translate(body, request, service))


async def _translate(body: TranslateRequest, request: Request, service: Service) -> TranslateAnswer:
    loaded = await service.load(body.model)
    text, timings, planned = await service.decode(request, loaded, body, body.top)
    beam_id = service.remember_beam(loaded, body) if planned.searches else None
    answer = translate_answer(body, loaded, text, timings, beam_id)
    if loaded.pair is not None and not learned(loaded.pair):
        await asyncio.to_thread(learn, loaded.pair)
    return answer.model_copy(update={"gold": gold_links(loaded, text)})


@router.post("/step", response_model=StepAnswer, responses=ERRORS, tags=["translate"])
async def step(body: StepRequest, request: Request, service: ServiceOf) -> Response:
    """Six stages of one decoder step: query, scores, mask, weights, context, top words."""
    loaded = await service.load(body.model)
    if not loaded.about.can_step:
        raise unsupported(
            f"{loaded.id} is an ONNX folder, whose single steps cannot be inspected", "serve the bundle itself"
        )
    return as_json(step_answer(body, loaded, await service.trace(request, loaded, body)))


@router.post("/occlusion", response_model=OcclusionAnswer, responses=ERRORS, tags=["translate"])
async def occlusion(body: OcclusionRequest, request: Request, service: ServiceOf) -> Response:
    """How much each source word matters to each target word: drop it and force the same target."""
    loaded = await service.load(body.model)
    return as_json(await service.call(request, lambda abandoned: occlusion_answer(body, loaded, abandoned)))


@router.post("/compare", response_model=CompareAnswer, responses=ERRORS, tags=["compare"])
async def compare(body: CompareRequest, request: Request, service: ServiceOf) -> Response:
    """One sentence through several models."""
    if len(set(body.models)) < len(body.models):
        raise invalid("models", "a model is named twice: name each once")
    for name in body.models:
        service.catalogue.find(name)
    results: list[Compared] = []
    for name in body.models:
        about = (await service.load(name)).about
        wanted = TranslateRequest(
            model=name, text=body.text, mode=body.mode, target=body.target, beam=body.beam, top=body.top
        )
        begun = time.perf_counter()
        try:
            answer = await _translate(wanted, request, service)
        except Exception as error:
            refusal = from_exception(error)
            if refusal is None or refusal.status not in (413, 422) or refusal.detail.field in ("target", "mode"):
                raise
            results.append(compared(about, None, refusal.detail.message, None))
        else:
            results.append(compared(about, answer, None, 1000 * (time.perf_counter() - begun)))
    differences = [difference(one, other, body.mode) for one, other in combinations(results, 2)]
    gold = next((one.translation.gold for one in results if one.translation and one.translation.gold), None)
    return as_json(CompareAnswer(mode=body.mode, results=results, differences=differences, gold=gold))


@router.get("/beam/{beam_id}", response_model=BeamAnswer, responses=ERRORS, tags=["beam"])
async def beam(beam_id: str, request: Request, service: ServiceOf) -> Response:
    """The tree of a beam search: kept, pruned and finished candidates."""
    decoding: Decoding | None = service.beams.get(beam_id)
    if decoding is None:
        raise not_found("beam", beam_id, "the server keeps the last ones only: translate again")
    loaded = await service.load(decoding.model)
    planned, tree = plan(decoding, loaded), SearchTree()
    text = await service.call(request, service.tree_work(loaded, planned, tree))
    if not text.found:
        raise Refusal(404, "not_found", "a blank text has no tree")
    return as_json(beam_answer(beam_id, loaded, planned, text, tree))
