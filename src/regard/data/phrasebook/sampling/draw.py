"""Chance and room: the random numbers of one corpus, and the words still to be spent on one sentence."""

import random
from collections.abc import Sequence
from typing import TypeVar

from regard.data.phrasebook.sampling.stock import Stock

Item = TypeVar("Item")


class Draw:
    """Every choice goes through `random.random`, whose numbers are the same on every machine and Python."""

    def __init__(self, seed: str, stock: Stock) -> None:
        self.random = random.Random(seed).random
        self.stock = stock
        self.room = 0

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def between(self, lowest: int, highest: int) -> int:
        """A whole number from lowest to highest, both included."""
        return lowest + int(self.random() * (highest - lowest + 1))
