"""Turns a pydantic ValidationError into one line that names the key, the value and the remedy."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from regard.bounds import cut, excerpt
from regard.suggest import suggest

_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a finite number",
    "bool": "true or false",
    "string": "text in quotes",
    "path": "a path in quotes",
    "tuple": "a list",
    "list": "a list",
    "model": "a table",
    "dict": "a table",
}
"""The expected kind by the first part of pydantic's error type: int_parsing, int_type, model_attributes_type …"""

_LIMITS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


@dataclass(frozen=True)
class _Place:
    """A key as the user wrote it, and the models that are valid there."""

    keys: tuple[str, ...]
    models: tuple[type[BaseModel], ...]

    @property
    def written(self) -> str:
        return ".".join(self.keys)


def complain(error: ValidationError, model: type[BaseModel], extra: dict[str, tuple[str, ...]] | None = None) -> str:
    """The most helpful of the errors; `extra` lists valid keys of a table besides those of its model."""
    findings: list[Any] = error.errors(include_url=False)
    first = next((one for one in findings if one["type"] == "extra_forbidden"), findings[0])
    kind = str(first["type"])
    if kind == "extra_forbidden":
        place = _find(model, first["loc"][:-1])
        key = str(first["loc"][-1])
        known = sorted({field for table in place.models for field in table.model_fields})
        valid = [*known, *(extra or {}).get(place.written, ())]
        return f"unknown key {cut('.'.join([*place.keys, key]))}: {suggest(key, valid, 'keys')}"
    place = _find(model, first["loc"])
    if kind == "missing":
        return f"{place.written} is missing"
    if kind.startswith("union_tag"):
        return _untagged(place, kind, first["ctx"])
    if kind == "value_error":
        return f"{place.written}: {first['ctx']['error']}".removeprefix(": ")
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return f"{place.written} = {excerpt(first['input'])}: {suggest(_word(first['input']), choices)}"
    same = [one for one in findings if _find(model, one["loc"]).keys == place.keys]
    wanted = " or ".join(dict.fromkeys(_wanted(one) for one in same))
    return f"{place.written} = {excerpt(first['input'])}: expected {wanted}"


def _word(value: object) -> str:
    """The text to compare with valid choices."""
    return cut(value) if isinstance(value, str) else ""


def _find(model: type[BaseModel], location: Iterable[str | int]) -> _Place:
    """Follow pydantic's location, which also names the variants of unions; users do not write those."""
    keys: list[str] = []
    models: tuple[type[BaseModel], ...] = (model,)
    for part in location:
        if isinstance(part, int):
            keys.append(str(part + 1))
            continue
        annotations = [one.model_fields[part].annotation for one in models if part in one.model_fields]
        if annotations:
            keys.append(part)
            models = tuple(found for annotation in annotations for found in _models_in(annotation))
        else:
            models = tuple(one for one in models if part in _tags(one)) or models
    return _Place(tuple(keys), models)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models_in(argument)]


def _tags(model: type[BaseModel], key: str | None = None) -> list[str]:
    """The discriminator values of this model in a union; those of the field `key` if it is given."""
    fields = model.model_fields.items()
    return [
        tag
        for name, field in fields
        if get_origin(field.annotation) is Literal and key in (None, name)
        for tag in get_args(field.annotation)
    ]


def _untagged(place: _Place, kind: str, context: dict[str, Any]) -> str:
    """A table whose discriminator is missing or unknown."""
    key = context["discriminator"].strip("'")
    choices = [tag for model in place.models for tag in _tags(model, key)]
    if kind == "union_tag_invalid":
        return f"{place.written}.{key} = {excerpt(context['tag'])}: {suggest(_word(context['tag']), choices)}"
    return f"{place.written}.{key} is missing: valid choices are {', '.join(choices)}"


def _wanted(finding: Any) -> str:
    kind = str(finding["type"])
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        return f"{words} {finding['ctx'][key]}"
    if kind == "string_too_long":
        most = finding["ctx"]["max_length"]
        return f"at most {most:,} character{'s' if most > 1 else ''}"
    if kind in ("too_long", "too_short"):
        return f"{finding['ctx'].get('max_length', finding['ctx'].get('min_length'))} values"
    named = (_WANTED[name] for name in _WANTED if kind.startswith(name))
    return next(named, finding["msg"][:1].lower() + finding["msg"][1:])
