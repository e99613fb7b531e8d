"""The declarations of an exercise's author: families of inputs, laws, named mistakes and alternatives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from numpy.random import Generator

from regard.course.attempt import Attempt

if TYPE_CHECKING:
    from regard.course.assertions import Check

Arguments = dict[str, Any]
Functions = Mapping[str, Callable[..., Any]]
Draw = Callable[[Mapping[str, int], Generator], Arguments]
Edits = tuple[tuple[str, str], ...]
"""(old, new) pieces of the solution's text."""
Kind = Literal["spec", "stability"]


@dataclass(frozen=True)
class Family:
    """Inputs of one kind, drawn in many sizes; a wrong answer is shrunk to the smallest input that shows it.

    `draw(sizes, random)` makes the keyword arguments of one call; `sizes` maps each axis to (smallest, largest).
    The answer must equal the reference's: type, shape and dtype exactly, values within the dtype's tolerance.
    A family of kind "stability" is tried last: an answer that is wrong only there is unstable.
    """

    name: str
    draw: Draw
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    function: str | None = None
    """Which of the exercise's functions is called; may be left out where there is one."""
    call: Callable[[Attempt, Arguments], Any] | None = None
    """Calls the attempt in another way, for instance twice; its return value is compared."""
    outputs: tuple[str, ...] = ()
    """Names for the parts of a returned tuple, or one name for the one answer."""
    kind: Kind = "spec"
    count: int = 12
    tolerance: float | None = None
    exact_dtype: bool = False
    """The answer must have the wanted dtype; otherwise float32 is an answer of less precision, not a mistake."""
    causes: tuple[str, ...] = ()
    """Names of outputs in the order in which they are computed: the first wrong one of these is reported."""
    diagnostic: bool = True
    """Cheap enough to run every named mistake on it."""
    pure: bool = True
    """The function must leave its arguments as they were."""
    shrink: bool = True
    describe: Callable[[Arguments], list[str]] | None = None
    """Lines that show the input, instead of the arguments themselves."""


@dataclass(frozen=True)
class Law:
    """Something that must hold between answers. `trial(attempt, check, random)` asserts it through `check`."""

    name: str
    meaning: str
    trial: "Callable[[Attempt, Check, Generator], None]"
    kind: Kind = "spec"


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation that learners really write, and the message for them.

    `variants` are ways to write it: each replaces some of the exercise's functions. The diagnosis runs them on the
    inputs of the families and compares answers; `recognise` takes its place where answers cannot tell.
    """

    name: str
    message: str
    variants: tuple[Functions, ...]
    recognise: Callable[[Attempt], bool] | None = None
    edits: tuple[Edits, ...] = ()
    """The variants as edits of `solution`, where slips.toml declares them so."""
    solution: str = ""


@dataclass(frozen=True)
class Exercise:
    """Everything the grader knows; `check.py` of an exercise's folder declares one as EXERCISE (slips.declare)."""

    reference: Functions
    """The right functions, by the names that the learner's file must define."""
    families: tuple[Family, ...]
    laws: tuple[Law, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    alternatives: tuple[Functions, ...] = ()
    """Other correct ways to write it; the self-check requires that they pass."""
    praise: str = ""
    """One sentence printed on success: what the learner's code can do now."""
    solution: str = ""
    """The text of solution.py: names the axes, and slips.toml edits it."""

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(self.reference)

    def mistake(self, name: str) -> Mistake:
        return next(one for one in self.mistakes if one.name == name)
