"""The course, and attention from files."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from regard.course.course_folder import DEFAULT
from regard.server.course_state import course_answer
from regard.server.routes.access import QUICK_ERRORS, ServiceOf, as_json
from regard.server.schema.others import AttentionAnswer, CourseAnswer

router = APIRouter()


@router.get("/course", response_model=CourseAnswer, responses=QUICK_ERRORS, tags=["course"])
def course(service: ServiceOf) -> Response:
    """Exercises and, in the studio, the learner's progress."""
    return as_json(course_answer(DEFAULT if service.settings.studio else None))


@router.get("/attention", response_model=AttentionAnswer, responses=QUICK_ERRORS, tags=["attention"])
def attention(service: ServiceOf, layer: Annotated[int | None, Query(ge=0, le=1000)] = None) -> Response:
    """Attention of `regard studio --attention FILE`; of large files one layer, the first unless `layer` names one."""
    return as_json(AttentionAnswer(files=[one.answer(layer) for one in service.attention]))
