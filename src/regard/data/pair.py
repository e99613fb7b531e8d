"""One corpus item: a source, its target, and the gold word links where they are known."""

from dataclasses import dataclass

from regard.alignment.links import Links


@dataclass(frozen=True)
class Pair:
    """Links count words as `regard.text.words.split_words` does."""

    source: str
    target: str
    links: Links | None = None
