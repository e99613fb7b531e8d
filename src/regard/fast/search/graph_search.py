"""Greedy and beam search of a few sentences by a model that searches by itself: one call instead of one for each step.

A model in onnxruntime does so (`runtime/onnx_search.py`): its decoder is in a Loop of a graph, without Python between
the steps.
"""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from regard.registry import Refusal, operation_of, replaces
from regard.search.beam import SearchTree
from regard.search.decode import Limits, beam_search, greedy_search, hypotheses
from regard.search.host_choices import HostChoices, follow
from regard.search.hypothesis import Hypothesis, Trail
from regard.search.search_options import Options
from regard.search.stepper import Stepper


@runtime_checkable
class SearchingStepper(Stepper, Protocol):
    """A model that can run a whole beam search."""

    def refuses_search(self, limits: Limits, beam: int, options: Options) -> Refusal:
        """Why it does not support this search."""
        ...

    def search(
        self, source: Any, limits: Limits, beam: int, nbest: int, options: Options
    ) -> tuple[HostChoices, Float[Tensor, "rows layer head source"] | None] | None:
        """What every step chose, and the weights of all steps and slots; None where the plain loop reports a fault."""
        ...


def _unfit_greedy(
    stepper: Stepper, source: Any, limits: Limits, *, options: Options | None = None, prefixes: object = None
) -> Refusal:
    return _unfit(stepper, limits, 1, options, prefixes)


def _unfit_beam(
    stepper: Stepper,
    source: Any,
    limits: Limits,
    *,
    beam: int = 4,
    nbest: int = 1,
    options: Options | None = None,
    prefixes: object = None,
    record: SearchTree | None = None,
    lengths: Tensor | None = None,
) -> Refusal:
    if record is not None:
        return "the tree is recorded on the host"
    if not 1 <= nbest <= beam:
        return "invalid beam or nbest, which the plain version reports"
    return _unfit(stepper, limits, beam, options, prefixes)


def _unfit(stepper: Stepper, limits: Limits, beam: int, options: Options | None, prefixes: object) -> Refusal:
    if not isinstance(stepper, SearchingStepper):
        return "the model does not search by itself"
    if prefixes is not None:
        return "prefixes are applied on the host"
    return stepper.refuses_search(limits, beam, options or Options())


@replaces(greedy_search, unless=_unfit_greedy)
def greedy_in_graph(
    stepper: SearchingStepper, source: Any, limits: Limits, *, options: Options | None = None, prefixes: None = None
) -> list[Hypothesis]:
    """Greedy search as a beam of one."""
    found = _searched(stepper, source, limits, 1, 1, options or Options())
    if found is None:
        plain: list[Hypothesis] = operation_of(greedy_search).plain(stepper, source, limits, options=options)
        return plain
    return [one for (one,) in found]


@replaces(beam_search, unless=_unfit_beam)
def beam_in_graph(
    stepper: SearchingStepper,
    source: Any,
    limits: Limits,
    *,
    beam: int = 4,
    nbest: int = 1,
    options: Options | None = None,
    prefixes: None = None,
    record: None = None,
    lengths: Int[Tensor, " sentence"] | None = None,
) -> list[list[Hypothesis]]:
    """Beam search; `lengths` are used only for coverage, which the graph does not compute."""
    found = _searched(stepper, source, limits, beam, nbest, options or Options())
    if found is None:
        plain = operation_of(beam_search).plain
        found = plain(stepper, source, limits, beam=beam, nbest=nbest, options=options, lengths=lengths)
    return found


def _searched(
    stepper: SearchingStepper, source: Any, limits: Limits, beam: int, nbest: int, options: Options
) -> list[list[Hypothesis]] | None:
    found = stepper.search(source, limits, beam, nbest, options)
    if found is None:
        return None
    (choices, weights), trail = found, Trail()
    trail.add(weights if options.weights else None, choices.token.size)
    return hypotheses(follow(choices, nbest, options), trail, options)
