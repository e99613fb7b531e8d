"""The accelerated implementations of a function and why each does not run for given arguments."""

from collections.abc import Callable
from typing import Any

from regard.registry import EntryReport, explained, operation_of


def candidates(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[EntryReport]:
    """Calls the function; the first entry without a refusal is the one that ran."""
    with explained() as found:
        function(*args, **kwargs)
    return found[operation_of(function).name]
