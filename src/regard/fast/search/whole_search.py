"""Registers a function that finds all hypotheses in one call as the entries of greedy and of beam search."""

from collections.abc import Callable, Iterable
from typing import Any

from regard.registry import Refusal, operation_of, replaces
from regard.search.decode import Limits, beam_search, greedy_search
from regard.search.hypothesis import Hypothesis
from regard.search.search_options import Options
from regard.search.stepper import Stepper

Unfit = Callable[[Stepper, Limits, int, Options], Refusal]
"""(model, limits, beam, options) → why the function does not apply."""
Search = Callable[[Any, Any, Limits, int, int, Options], list[list[Hypothesis]] | None]
"""(model, source, limits, beam, nbest, options) → the hypotheses; None where the plain version must run."""


def replace_searches(
    greedy_name: str,
    beam_name: str,
    unfit: Unfit,
    search: Search,
    bypasses: Callable[..., Iterable[object]] | None = None,
) -> tuple[Callable[..., list[Hypothesis]], Callable[..., list[list[Hypothesis]]]]:
    """The two entries; greedy search is a beam of one. `lengths` are used only for coverage."""

    def unfit_beam(
        stepper: Stepper, source: Any, limits: Limits, *, beam: int = 4, nbest: int = 1, **others: Any
    ) -> Refusal:
        if others.get("record") is not None:
            return "the tree is recorded on the host"
        if others.get("prefixes") is not None:
            return "prefixes are applied on the host"
        if not 1 <= nbest <= beam:
            return "invalid beam or nbest, which the plain version reports"
        return unfit(stepper, limits, beam, others.get("options") or Options())

    def unfit_greedy(stepper: Stepper, source: Any, limits: Limits, **others: Any) -> Refusal:
        return unfit_beam(stepper, source, limits, beam=1, **others)

    @replaces(beam_search, unless=unfit_beam, bypasses=bypasses, name=beam_name)
    def beam(
        stepper: Stepper, source: Any, limits: Limits, *, beam: int = 4, nbest: int = 1, **others: Any
    ) -> list[list[Hypothesis]]:
        found = search(stepper, source, limits, beam, nbest, others.get("options") or Options())
        if found is None:
            found = operation_of(beam_search).plain(stepper, source, limits, beam=beam, nbest=nbest, **others)
        return found

    @replaces(greedy_search, unless=unfit_greedy, bypasses=bypasses, name=greedy_name)
    def greedy(stepper: Stepper, source: Any, limits: Limits, **others: Any) -> list[Hypothesis]:
        found = search(stepper, source, limits, 1, 1, others.get("options") or Options())
        if found is None:
            plain: list[Hypothesis] = operation_of(greedy_search).plain(stepper, source, limits, **others)
            return plain
        return [one for (one,) in found]

    return greedy, beam
