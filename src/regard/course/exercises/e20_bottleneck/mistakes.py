"""Exercise 20: wrong measurements that no edit of the solution makes."""

# mypy: disable-error-code="no-any-return"


def right_words(hypotheses: list[list[int]], references: list[list[int]], edges: list[int]) -> list[float | None]:
    """The share of right words instead of right sequences."""
    bins: list[list[float]] = [[] for _ in range(len(edges) + 1)]
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        place = sum(len(reference) >= edge for edge in edges)
        same = sum(one == other for one, other in zip(hypothesis, reference, strict=False))
        bins[place].append(same / len(reference))
    return [sum(right) / len(right) if right else None for right in bins]


def share_of_all(hypotheses: list[list[int]], references: list[list[int]], edges: list[int]) -> list[float | None]:
    """Divided by all sequences."""
    bins: list[list[bool]] = [[] for _ in range(len(edges) + 1)]
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        bins[sum(len(reference) >= edge for edge in edges)].append(hypothesis == reference)
    return [sum(right) / len(references) if right else None for right in bins]


def beginnings(hypotheses: list[list[int]], references: list[list[int]], edges: list[int]) -> list[float | None]:
    """zip() stops at the shorter one: a hypothesis that is too short or too long counts as right."""
    bins: list[list[bool]] = [[] for _ in range(len(edges) + 1)]
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        same = all(one == other for one, other in zip(hypothesis, reference, strict=False))
        bins[sum(len(reference) >= edge for edge in edges)].append(same)
    return [sum(right) / len(right) if right else None for right in bins]
