"""Refusals of the API: one exception, and how other exceptions become the same body."""

from typing import Any

from pydantic import ValidationError

from regard.bounds import MOST, cut
from regard.server.schema.base import ErrorBody, ErrorDetail
from regard.text.input_error import InputError

LIMITS_HINT = "GET /api/v1/models lists the limits"
_TOO_LONG = ("string_too_long", "too_long")


class Refusal(Exception):
    """A request that is answered by an error body."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str | None = None, field: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.detail = ErrorDetail(code=code, message=cut(message, MOST["message"]), hint=hint, field=field)

    @property
    def headers(self) -> dict[str, str]:
        retry = {"Retry-After": "1"} if self.status in (429, 503) else {}
        return {**retry, **({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})}

    @property
    def body(self) -> bytes:
        return ErrorBody(error=self.detail).model_dump_json().encode()


def not_found(what: str, name: str, hint: str) -> Refusal:
    return Refusal(404, "not_found", f"no {what} '{cut(name, MOST['quoted'])}'", hint=hint)


def unsupported(message: str, hint: str | None = None, field: str | None = None) -> Refusal:
    return Refusal(422, "unsupported", message, hint=hint, field=field)


def invalid(field: str, message: str, hint: str | None = None) -> Refusal:
    return Refusal(422, "invalid", f"{field}: {message}", hint=hint, field=field)


def from_validation(errors: list[Any]) -> Refusal:
    """The first fault that pydantic found: 400 for what is no JSON, 413 for a text that is too long, else 422."""
    first = errors[0]
    place = [str(part) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    if first["type"] == "json_invalid":
        return Refusal(400, "invalid", "the body is no JSON", hint="send an object in JSON, in UTF-8")
    field = ".".join(place) or None
    message = str(first["msg"]).removeprefix("Value error, ")
    message = f"{field}: {message}" if field else f"the body: {message}"
    limit = first["type"] in _TOO_LONG or "less_than" in first["type"]
    if first["type"] in _TOO_LONG:
        return Refusal(413, "too_long", message, hint=LIMITS_HINT, field=field)
    return Refusal(422, "invalid", message, hint=LIMITS_HINT if limit else None, field=field)


def from_exception(error: BaseException) -> Refusal | None:
    """What a wrong request causes deeper down; None for a fault of ours."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, InputError | ValidationError):
        message = str(error)
        field = message.partition(":")[0]
        return Refusal(422, "invalid", message, field=field if field.replace(".", "").isidentifier() else None)
    if isinstance(error, ValueError) and "no token is possible" in str(error):
        return Refusal(422, "invalid", str(error))
    return None
