"""One reference or several for each sentence, brought into one form and checked against the hypotheses."""

from collections.abc import Sequence

References = Sequence[str | Sequence[str]]
"""For each sentence its reference, or its several references."""


def reference_lists(hypotheses: Sequence[str], references: References) -> list[list[str]]:
    """Every sentence's references as a list; raises if a sentence has none."""
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise ValueError("one string was given where a list of sentences is expected; put it into a list")
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references; give one for each sentence")
    if not hypotheses:
        raise ValueError("no sentences to score: the list of hypotheses is empty")
    lists = [[each] if isinstance(each, str) else list(each) for each in references]
    for number, each in enumerate(lists):
        if not each:
            raise ValueError(
                f"sentence {number} (0-based) has no reference; give at least one, or leave the sentence out"
            )
    return lists


def reference_streams(hypotheses: Sequence[str], references: References) -> list[list[str | None]]:
    """As sacrebleu takes them: all first references, then all second ones, None if a sentence has no more."""
    lists = reference_lists(hypotheses, references)
    most = max(len(each) for each in lists)
    return [[each[index] if index < len(each) else None for each in lists] for index in range(most)]
