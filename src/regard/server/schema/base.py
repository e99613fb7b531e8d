"""Base classes of requests and answers, the limits that requests are checked against, and the body of an error."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

MOST_CHARACTERS = 4_000
"""Characters of a source text, a target or a prefix."""
MOST_BEAM = 16
"""Beam width, and length of an n-best list."""
MOST_TOP = 50
"""Words listed for each step."""
MOST_MODELS = 8
"""Models of one comparison."""
MOST_LINES = 500
"""Sentences of one triage request."""


class Request(BaseModel):
    """A request: an unknown key is an error, and so is a value of another type, such as true for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, allow_inf_nan=False)


class Answer(BaseModel):
    """An answer; later versions of the API only add keys."""

    model_config = ConfigDict(use_attribute_docstrings=True, protected_namespaces=())


class ErrorDetail(Answer):
    """Why a request was refused."""

    code: str
    """Stable and short: invalid, not_found, too_large, too_long, busy, timeout, stopping, unauthorized, forbidden,
    unsupported, failed."""
    message: str
    """What was given and what was expected, to be shown to the user."""
    hint: str | None = None
    """The remedy."""
    field: str | None = None
    """The key of the request that is wrong, with dots: attention_edit.weights."""


class ErrorBody(Answer):
    """The body of every answer with status 400 or more."""

    error: ErrorDetail


def error_responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI entries of these status codes."""
    return {code: {"model": ErrorBody, "description": _MEANING[code]} for code in codes}


_MEANING = {
    400: "The body is not valid JSON.",
    401: "A token is needed: send Authorization: Bearer TOKEN.",
    403: "The header Host or Origin names another server.",
    404: "There is no such model, run, tree or file.",
    405: "This path has no such method.",
    409: "The request conflicts with the present state, for example with a run in progress.",
    413: "The body or the text is larger than the server accepts.",
    422: "The body does not match the schema, or the model does not support the request.",
    429: "Too many requests wait: retry after the seconds in Retry-After.",
    503: "The request took too long, or the server is stopping.",
}

Name = Annotated[str, Field(max_length=255)]
"""The id of a model. With a length limit, pydantic also rejects lone surrogates, which an answer could not quote."""
Line = Annotated[str, Field(max_length=MOST_CHARACTERS)]
