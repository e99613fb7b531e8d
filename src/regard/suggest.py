"""Ends the message about an unknown name: with the closest valid name, else with all valid names."""

from collections.abc import Iterable
from difflib import get_close_matches

from regard.bounds import cut


def suggest(given: str, valid: Iterable[str], what: str = "choices", *, otherwise: str = "") -> str:
    """`did you mean 'beam'?`, or `valid choices are …` (or `otherwise`) where no valid name is close.

    >>> suggest("additve", ["additive", "dot"]), suggest("xyz", ["additive", "dot"], "scores")
    ("did you mean 'additive'?", 'valid scores are additive, dot')
    """
    valid = list(valid)
    near = closest(given, valid)
    if near is not None:
        return f"did you mean '{near}'?"
    return otherwise or (f"valid {what} are {', '.join(valid)}" if valid else f"there are no {what}")


def closest(given: str, valid: Iterable[str]) -> str | None:
    """The valid name most like `given`, ignoring case and `-` against `_`; None if none is close."""
    names = {_plain(name): name for name in valid}
    near = get_close_matches(_plain(cut(given)), names, n=1, cutoff=0.6)
    return names[near[0]] if near else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
