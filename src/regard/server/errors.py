"""Refusals of the API: one exception, and how other exceptions become the same body."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from regard.bounds import MOST, cut
from regard.search.strategy import NothingPossible
from regard.server.schema.base import ErrorBody, ErrorDetail
from regard.suggest import suggest
from regard.text.input_error import InputError

LIMITS_HINT = "GET /api/v1/models lists the limits"
NO_JSON = "the body is not valid JSON"
_TOO_LONG = ("string_too_long", "too_long")
_FAULTS = {
    "missing": "required, but not given",
    "extra_forbidden": "there is no such key",
    "string_too_long": "more than {max_length:,} characters",
    "too_long": "more than {max_length:,} entries",
    "too_short": "fewer than {min_length:,} entries",
    "greater_than_equal": "{given} given, at least {ge} accepted",
    "greater_than": "{given} given, more than {gt} accepted",
    "less_than_equal": "{given} given, at most {le} accepted",
    "finite_number": "expected a finite number",
    "string_unicode": "a lone surrogate is not a character",
    "string_type": "{given} given, expected a string",
    "int_type": "{given} given, expected an integer",
    "float_type": "{given} given, expected a number",
    "bool_type": "{given} given, expected true or false",
    "list_type": "{given} given, expected an array",
    "literal_error": "{given} given, expected {expected}",
}
"""Our messages for the errors of pydantic, by their types."""


class Refusal(Exception):
    """A request that is answered by an error body."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str | None = None, field: str | None = None,
        allow: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.status, self.allow = status, allow
        self.detail = ErrorDetail(code=code, message=cut(message, MOST["message"]), hint=hint, field=field)

    @property
    def headers(self) -> dict[str, str]:
        found = {"Retry-After": "1" if self.status in (429, 503) else None, "Allow": self.allow,
                 "WWW-Authenticate": "Bearer" if self.status == 401 else None}  # fmt: skip
        return {name: value for name, value in found.items() if value is not None}

    @property
    def body(self) -> bytes:
        return ErrorBody(error=self.detail).model_dump_json().encode()


def not_found(what: str, name: str, hint: str) -> Refusal:
    return Refusal(404, "not_found", f"no {what} '{cut(name, MOST['quoted'])}'", hint=hint)


def unsupported(message: str, hint: str | None = None, field: str | None = None) -> Refusal:
    return Refusal(422, "unsupported", message, hint=hint, field=field)


def invalid(field: str, message: str) -> Refusal:
    return Refusal(422, "invalid", f"{field}: {message}", field=field)


def from_validation(errors: list[Any], keys: Iterable[str] = ()) -> Refusal:
    """The first fault that pydantic found: 400 for invalid JSON, 413 for a text that is too long, else 422.

    `keys` are those that the request may have.
    """
    first, kind = errors[0], errors[0]["type"]
    place = [cut(str(part)) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    if kind == "json_invalid":
        return no_json()
    if not place:
        return Refusal(
            422, "invalid", "the body is not a JSON object", hint="send one, with Content-Type: application/json"
        )
    field = ".".join(place)
    message = f"{field}: {_fault(first)}"
    if kind in _TOO_LONG:
        return Refusal(413, "too_long", message, hint=LIMITS_HINT, field=field)
    hint = LIMITS_HINT if "than" in kind else None
    if kind == "extra_forbidden" and len(place) == 1:
        hint = suggest(field, keys, "keys")
    return Refusal(422, "invalid", message, hint=hint, field=field)


def no_json() -> Refusal:
    return Refusal(400, "invalid", NO_JSON, hint="send a JSON object in UTF-8")


def _fault(error: Any) -> str:
    words = _FAULTS.get(error["type"])
    if words is None:
        return str(error["msg"]).removeprefix("Value error, ")
    given = error.get("input")
    names: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}
    shown = names.get(type(given))
    if shown is None or error["type"] == "literal_error":
        shown = cut(json.dumps(given, default=str), MOST["quoted"])
    return words.format(given=shown, **error.get("ctx", {}))


def from_exception(error: BaseException) -> Refusal | None:
    """The refusal for an exception that a wrong request caused; None for an error of the server."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, InputError | ValidationError | NothingPossible):
        return Refusal(422, "invalid", str(error), field=error.field if isinstance(error, InputError) else None)
    return None
