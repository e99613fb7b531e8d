"""The counted assertions that laws are written with; the first that fails ends the law with what was seen."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.answer_parts import Leaf
from regard.course.outcome import Outcome, difference
from regard.course.show import number, yours_and_wanted

CUT = "something cuts the graph (.detach(), .data, .item(), NumPy, no_grad)"


class Broken(Exception):
    """A law does not hold: a sentence, and lines that show it."""

    def __init__(self, headline: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(headline)
        self.headline = headline
        self.details = details


class Check:
    """Counts every assertion, so that the self-check can tell a law that asserts nothing."""

    def __init__(self) -> None:
        self.count = 0

    def that(self, holds: bool, otherwise: str, *details: str) -> None:
        """`otherwise` is the sentence for a learner for whom it does not hold."""
        self.count += 1
        if not holds:
            raise Broken(otherwise, details)

    def same(
        self, yours: Any, wanted: Any, otherwise: str, *details: str, tolerance: float | None = None, labels: str = ""
    ) -> None:
        """Type, shape, dtype and values; `labels` such as "padded/alone" replaces "yours/wanted"."""
        self.count += 1
        found = difference(Outcome(yours), Outcome(wanted), tolerance)
        if found is not None:
            lines = _compared(found.yours, found.wanted, labels)
            kind = "" if found.kind == "value" else f" ({found.headline.rstrip('.')})"
            raise Broken(otherwise + kind, (*details, *lines))

    def slope(
        self,
        function: Callable[[ndarray], float],
        at: ndarray,
        wanted: ndarray,
        otherwise: str,
        step: float = 1e-5,
    ) -> None:
        """Central differences of a scalar function of a float64 array against the wanted gradient."""
        found = np.zeros_like(at)
        for place in np.ndindex(at.shape):
            shift = np.zeros_like(at)
            shift[place] = step
            found[place] = (function(at + shift) - function(at - shift)) / (2 * step)
        self.same(found, wanted, otherwise, tolerance=1e-5)

    def gradients(
        self,
        yours: Callable[..., Any],
        wanted: Callable[..., Any],
        inputs: dict[str, Any],
        otherwise: str = "The values are right, but the gradient of `{name}` is not, so training would go wrong: "
        + CUT
        + ".",
    ) -> None:
        """Torch: d(sum of squares of the answer)/d(each float tensor of the inputs), yours against the reference's.

        Both functions take the inputs by name and return tensors or tuples of them; other inputs (whole numbers, masks,
        modules) stay as they are. A detour through NumPy, `.item()`, `.detach()` or `no_grad` shows here.
        """
        mine = self._backward(yours, inputs)
        want = self._backward(wanted, inputs)
        for name in inputs:
            if mine[name] is None and want[name] is not None:
                self.that(False, f"No gradient reaches `{name}`: {CUT}.")
            if want[name] is not None:
                self.same(mine[name], want[name], otherwise.format(name=name), tolerance=1e-6)

    def _backward(self, function: Callable[..., Any], inputs: dict[str, Any]) -> dict[str, Any]:
        leaves = {
            name: value.detach().clone().requires_grad_()
            for name, value in inputs.items()
            if hasattr(value, "is_floating_point") and value.is_floating_point()
        }
        answer = function(**{**inputs, **leaves})
        parts = answer if isinstance(answer, tuple | list) else [answer]
        total: Any = sum((part**2).sum() for part in parts if hasattr(part, "grad_fn") and part.is_floating_point())
        self.that(getattr(total, "requires_grad", False), f"No gradient leaves your function: {CUT}.")
        total.backward()
        return {name: leaves[name].grad if name in leaves else None for name in inputs}


def _compared(yours: Leaf | None, wanted: Leaf | None, labels: str) -> list[str]:
    if yours is None or wanted is None:
        return []
    lines = yours_and_wanted(yours, wanted)
    if not labels:
        return lines
    first, second = labels.split("/")
    width = max(len(first), len(second), 6)
    renamed = {"yours ": first, "wanted": second, "      ": ""}
    return [renamed.get(line[:6], line[:6]).ljust(width) + line[6:] for line in lines]


__all__ = ["Broken", "Check", "number"]
