"""How wrong lists and sets come from the right ones: entries missing, too many, in another order, turned round."""

from collections.abc import Callable
from typing import Any

from regard.course.answer_parts import Leaf

Pair = tuple[Any, Any]
MOST_SHOWN = 3


def collection_relation(pairs: list[tuple[Leaf, Leaf]]) -> list[str]:
    """Sentences that hold for every pair (yours, wanted) of lists or sets."""
    values = [(mine.value, want.value) for mine, want in pairs]
    if not values or not all(isinstance(one, list | set | tuple) for pair in values for one in pair):
        return []
    try:
        return _relations(values)
    except TypeError:  # entries that cannot be compared or hashed
        return []


def _relations(pairs: list[Pair]) -> list[str]:
    def everywhere(holds: Callable[[Any, Any], bool]) -> bool:
        return all(holds(mine, want) for mine, want in pairs)

    listed = [(list(mine), list(want)) for mine, want in pairs]
    ordered = isinstance(pairs[0][1], list)
    if isinstance(pairs[0][1], set) and everywhere(lambda mine, want: not isinstance(mine, set) and set(mine) == want):
        return ["The entries are right, but not in a set: collect them in set(), with add()."]
    pairs_of_two = all(isinstance(one, tuple) and len(one) == 2 for mine, _ in listed for one in mine)
    if pairs_of_two and everywhere(lambda mine, want: {one[::-1] for one in mine} == set(want) and bool(want)):
        return ["Each pair is turned round: the first entry should be the second."]
    if everywhere(lambda mine, want: {_plus_one(one) for one in want} == set(mine) != set(want)):
        return ["Your numbers are counted from 1; here, as in Python, the first is 0."]
    if ordered and all(mine == want[::-1] for mine, want in listed):
        return ["The right entries in reverse order: is the sort ascending where descending is wanted (best first)?"]
    if ordered and all(sorted(map(str, mine)) == sorted(map(str, want)) for mine, want in listed):
        return ["The right entries, but in another order: a set or a sort has lost the order."]
    if ordered and (found := _cut(listed) or _one_for_another(listed)):
        return [found]
    missing = [[one for one in want if one not in mine] for mine, want in listed]
    extra = [[one for one in mine if one not in want] for mine, want in listed]
    twice = [mine for mine, _ in listed if len({str(one) for one in mine}) < len(mine)]
    if not any(missing) and not any(extra):
        lost = "Repeated entries are lost: a set holds each of them only once, and in no order."
        return ["An entry is there more than once." if twice else lost]
    if not any(extra):
        return [f"Entries are missing, for instance {_first(missing)}; those that are there are right."]
    if not any(missing):
        return [f"There are entries too many, for instance {_first(extra)}; the wanted ones are all there."]
    numbers = {type(one) for mine, _ in listed for one in mine}
    if numbers and numbers <= {int, float} and any(isinstance(one, str) for _, want in listed for one in want):
        if numbers == {int}:
            return ["Your answer holds positions (numbers); wanted are the words at these positions."]
        return [
            "Your answer holds the largest weights (max); wanted are the words they belong to: argmax gives the place."
        ]
    if ordered and not everywhere(lambda mine, want: len(mine) == len(want)):
        mine, want = next(pair for pair in listed if len(pair[0]) != len(pair[1]))
        return [f"Your list has {len(mine)} entries, wanted are {len(want)}: what is there one entry for?"]
    return [_first_difference(*listed[0])]


def _first_difference(mine: list[Any], want: list[Any]) -> str:
    """The input that is shown: the entry that differs, or what is missing and what should not be there."""
    missing, extra = [one for one in want if one not in mine], [one for one in mine if one not in want]
    if len(missing) == len(extra) == 1:
        return f"{_text(extra)} stands where {_text(missing)} is wanted."
    parts = (f"Missing: {_text(missing)}." if missing else "", f"Should not be there: {_text(extra)}." if extra else "")
    return " ".join(filter(None, parts)) or "The right entries, but in another order."


def _text(entries: list[Any]) -> str:
    """Some entries, the smallest first."""
    shown = sorted(map(str, entries))
    return ", ".join(shown[:MOST_SHOWN]) + (", …" if len(shown) > MOST_SHOWN else "")


def _cut(pairs: list[Pair]) -> str:
    """Lists that hold only the beginning or the end of the wanted ones."""
    if not all(len(mine) < len(want) for mine, want in pairs):
        return ""
    if not any(mine for mine, _ in pairs):
        return "Your answer is empty: nothing is put into it, or what is found is printed and not kept."
    if all(mine == want[: len(mine)] for mine, want in pairs):
        if all(len(mine) == 1 for mine, _ in pairs):
            return "Only the first entry is there: does `return` stand inside the loop?"
        return "Entries are missing at the end: a loop or a slice that stops too early, or a `return` inside the loop?"
    if all(mine == want[len(want) - len(mine) :] for mine, want in pairs):
        if all(len(mine) == 1 for mine, _ in pairs):
            return "Only the last entry is there: is the list made anew at each turn of the loop, or not appended to?"
        return "Entries are missing at the beginning: a loop or a slice that starts too late?"
    return ""


def _one_for_another(pairs: list[Pair]) -> str:
    """Entries that are all the same, or one that stands wherever a certain other one is wanted."""
    if not all(len(mine) == len(want) for mine, want in pairs):
        return ""
    if all(len({str(one) for one in mine}) == 1 < len({str(one) for one in want}) for mine, want in pairs):
        return "All entries of your list are the same: one list or number stands in every place ([[]] * n does that)."
    places = [(one, two) for mine, want in pairs for one, two in zip(mine, want, strict=True) if one != two]
    if len({str(place) for place in places}) == 1 and len(places) > 1:
        return f"Wherever {places[0][1]!r} is wanted, yours is {places[0][0]!r}."
    return ""


def _plus_one(entry: Any) -> Any:
    if isinstance(entry, tuple) and all(isinstance(one, int) for one in entry):
        return tuple(one + 1 for one in entry)
    return entry + 1 if isinstance(entry, int) else entry


def _first(lists: list[list[Any]]) -> str:
    return str(next(one for some in lists for one in some))
