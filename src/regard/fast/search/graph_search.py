"""Greedy and beam search of a few sentences by a model that searches by itself: one call instead of one for each step.

A model in onnxruntime does so (`runtime/onnx_search.py`): its decoder is in a Loop of a graph, without Python between
the steps.
"""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from regard.fast.search.whole_search import replace_searches
from regard.registry import Refusal
from regard.search.decode import Limits, hypotheses
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


def _unfit(stepper: Stepper, limits: Limits, beam: int, options: Options) -> Refusal:
    if not isinstance(stepper, SearchingStepper):
        return "the model does not search by itself"
    return stepper.refuses_search(limits, beam, options)


def _searched(
    stepper: SearchingStepper, source: Any, limits: Limits, beam: int, nbest: int, options: Options
) -> list[list[Hypothesis]] | None:
    found = stepper.search(source, limits, beam, nbest, options)
    if found is None:
        return None
    (choices, weights), trail = found, Trail()
    trail.add(weights if options.weights else None, choices.token.size)
    return hypotheses(follow(choices, nbest, options), trail, options)


greedy_in_graph, beam_in_graph = replace_searches("greedy_in_graph", "beam_in_graph", _unfit, _searched)
