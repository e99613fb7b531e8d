"""Checks a request against its model and plans its decoding: what is forced, which search, alone or in a batch."""

from dataclasses import dataclass
from typing import Any

from regard.runtime.traced import SentenceToTrace, Tracing
from regard.server.errors import invalid, unsupported
from regard.server.schema.translating import AttentionEdit, Decoding
from regard.server.served_models import Loaded

SLACK = 1e-3
"""The sum of an edit's weights may exceed 1 by this much, because sliders are not exact."""
WIDE = 400
"""Characters of a text that take a row of a batch."""


@dataclass(frozen=True)
class RequestPlan:
    """`search` are the changed keys of [search]; `alone` keeps a request out of batches."""

    sentence: SentenceToTrace
    search: tuple[tuple[str, Any], ...]
    edit: tuple[int, tuple[float, ...]] | None
    alone: bool
    searches: bool
    """Whether it is a free search, whose tree can be drawn: no sampling, no edit."""
    rows: int

    def tracing(self, **more: Any) -> Tracing:
        return Tracing(edit=self.edit, **more)


def plan(request: Decoding, loaded: Loaded) -> RequestPlan:
    """Raises for contradictory options; the search checks the others."""
    forced = request.mode == "forced"
    _check_mode(request)
    edit = request.attention_edit
    if edit is not None:
        _check_edit(edit, request, loaded)
    prefix: str | tuple[int, ...] | None = request.prefix
    if request.prefix_ids is not None:
        prefix = tuple(request.prefix_ids)
    search = {} if forced else _search(request, edit is not None)
    config = loaded.translator.search_config(dict(search))
    sampled = config.sampler is not None and not forced
    rows = 1 if forced else max(config.beam, config.nbest)
    return RequestPlan(
        sentence=SentenceToTrace(request.text, request.target, prefix),
        search=tuple(sorted(search.items())),
        edit=None if edit is None else (edit.step, tuple(edit.weights)),
        alone=sampled or edit is not None,
        searches=not (forced or sampled or edit is not None),
        rows=rows * (1 + len(request.text) // WIDE),
    )


def _check_mode(request: Decoding) -> None:
    if request.mode == "free" and request.target is not None:
        raise invalid("target", "it needs mode forced; in free mode a prefix begins the translation")
    if request.prefix is not None and request.prefix_ids is not None:
        raise invalid("prefix_ids", "give prefix or prefix_ids, not both")
    if request.mode == "free":
        return
    if request.target is None:
        raise invalid("target", "mode forced needs the target to force")
    keys = ("prefix", "prefix_ids", "beam", "temperature", "top_k", "top_p", "length_penalty")
    given = [key for key in keys if getattr(request, key) is not None] + ["nbest"] * (request.nbest > 1)
    if given:
        raise invalid(given[0], "mode forced has no free pieces: leave it out")


def _check_edit(edit: AttentionEdit, request: Decoding, loaded: Loaded) -> None:
    if not loaded.about.has_attention:
        raise unsupported(f"{loaded.id} has no attention to edit: one fixed vector", field="attention_edit")
    if (request.beam or 1) > 1 or request.nbest > 1:
        raise invalid("attention_edit", "it edits a single hypothesis: leave beam and nbest out, or set them to 1")
    total, least = sum(edit.weights), min(edit.weights)
    if least < 0 or total > 1 + SLACK:
        given = f"one is {least:.6g}" if least < 0 else f"they sum to {total:.6g}"
        raise invalid("attention_edit.weights", f"{given}: expected numbers of 0 or more that sum to at most 1")


def _search(request: Decoding, edited: bool) -> dict[str, Any]:
    keys = ("beam", "temperature", "top_k", "top_p", "length_penalty")
    search = {key: value for key in keys if (value := getattr(request, key)) is not None}
    if request.nbest > 1:
        search["nbest"] = request.nbest
    if request.temperature is not None:
        search |= {"seed": request.seed, "nbest": request.nbest}
    elif edited:
        search["beam"] = 1
    return search
