"""Checks the calls of the package against the types and shapes in its signatures, by jaxtyping and beartype.

`jaxtyping.jaxtyped` binds the arguments to the signature and checks them twice, before the call and with the result,
which takes longer than most calls of the tests themselves. Here arguments and result are checked once. Signatures whose
shapes name an argument, as in `Bool[Tensor, "batch {size}"]`, need the bound arguments and keep jaxtyping's decorator;
so do annotations that are strings, which may name what only a type checker imports.

A function of either kind, or with shapes in its signature, is checked at its first calls in each test and then at every
sixteenth: a loop calls it with the same shapes again and again. REGARD_CHECK_ALL_SHAPES=1 (`make test-long`) checks
every call.
"""

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, ForwardRef, Literal, get_args, get_origin

import jaxtyping
from beartype import beartype

FIRST, INTERVAL = 8, 16
"""How many calls of a test are checked in any case, and which of the later ones."""

_jaxtyped = jaxtyping.jaxtyped
_context = _jaxtyped("context")
_calls: dict[int, int] = {}
"""How often each function was called in the current test, by its number."""


def install() -> None:
    """Check the modules of the package that are imported from now on."""
    jaxtyping.jaxtyped = _check  # what the import hook applies to every function and class
    jaxtyping.install_import_hook("regard", "beartype.beartype")


def begin_test() -> None:
    """The first calls of each function are checked again."""
    _calls.clear()


def _check(function: Any = None, *, typechecker: Callable[..., Any]) -> Any:
    if function is None:
        return functools.partial(_check, typechecker=typechecker)
    if inspect.isclass(function):
        if dataclasses.is_dataclass(function) and "__init__" in vars(function):
            function.__init__ = _check(function.__init__, typechecker=typechecker)  # type: ignore[misc]
        return function
    if not isinstance(function, FunctionType):
        return _jaxtyped(function, typechecker=typechecker)
    shapes = list(_shapes(inspect.get_annotations(function).values()))
    if None in shapes or any("{" in shape for shape in shapes if shape):
        return _sampled(function, _jaxtyped(function, typechecker=typechecker))
    checked = beartype(function)
    return _sampled(function, _in_context(checked)) if shapes else checked


def _shapes(annotations: Iterable[Any]) -> Iterator[str | None]:
    """The shapes in annotations; None for a part that is a string."""
    for annotation in annotations:
        if isinstance(annotation, str | ForwardRef):
            yield None
        elif isinstance(shape := getattr(annotation, "dim_str", None), str):  # forward references have any attribute
            yield shape
        elif get_origin(annotation) is not Literal:
            yield from _shapes(get_args(annotation))


def _in_context(checked: Callable[..., Any]) -> Callable[..., Any]:
    def with_shapes(*args: Any, **options: Any) -> Any:
        with _context:
            return checked(*args, **options)

    return with_shapes


def _sampled(function: Callable[..., Any], checked: Callable[..., Any]) -> Callable[..., Any]:
    if os.environ.get("REGARD_CHECK_ALL_SHAPES"):
        return functools.wraps(function)(checked)
    number = id(checked)

    @functools.wraps(function)
    def sampled(*args: Any, **options: Any) -> Any:
        call = _calls[number] = _calls.get(number, 0) + 1
        return (function if call > FIRST and call % INTERVAL else checked)(*args, **options)

    return sampled
