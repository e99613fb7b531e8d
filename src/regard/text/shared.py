"""Compares two vocabularies piece by piece: equal sizes do not make equal pieces."""

from regard.text.tokenizer import Tokenizer


def first_difference(one: Tokenizer, other: Tokenizer, here: str, there: str) -> str | None:
    """The first difference as a phrase, with the names of the two places; None if all pieces are equal.

    Example: "piece 4 is 'the' in the source and 'le' in the target".
    """
    if len(one) != len(other):
        return f"there are {len(one):,} pieces {here} and {len(other):,} {there}"
    for number, (mine, theirs) in enumerate(zip(one.pieces, other.pieces, strict=True)):
        if mine != theirs:
            return f"piece {number} is {mine!r} {here} and {theirs!r} {there}"
    return None
