"""Checks that the members of an ensemble have the same vocabularies."""

from collections.abc import Sequence
from typing import Any

from regard.bundle.store import Bundle
from regard.text.input_error import InputError
from regard.text.tokenizer import first_difference


def check_same_vocabularies(bundles: Sequence[Bundle[Any]]) -> None:
    """Raise for bundles that were trained with different tokenizers."""
    first = bundles[0]
    for other in bundles[1:]:
        if _reads_and_writes(other) != _reads_and_writes(first):
            raise InputError(
                f"{other.name} and {first.name} have different vocabularies: an ensemble needs models that were "
                f"trained with the same tokenizers (train.start_from shares them); {_difference(other, first)}"
            )


def _reads_and_writes(bundle: Bundle[Any]) -> tuple[str, str, bool]:
    return bundle.source.fingerprint, bundle.target.fingerprint, bundle.manifest.source_eos


def _difference(one: Bundle[Any], other: Bundle[Any]) -> str:
    """The first difference between two bundles that read or write differently."""
    here, there = f"in {one.name}", f"in {other.name}"
    for side in ("source", "target"):
        found = first_difference(getattr(one, side), getattr(other, side), here, there)
        if found is not None:
            return f"of the {side}s, {found}"
    ends = [str(bundle.manifest.source_eos).lower() for bundle in (one, other)]
    if len(set(ends)) > 1:
        return f"source_eos = {ends[0]} {here} and {ends[1]} {there}"
    return "their pieces are equal, but text is cut into them in another way"
