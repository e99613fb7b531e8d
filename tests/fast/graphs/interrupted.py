"""A dict that lets another thread run between two accesses."""

from collections import OrderedDict
from threading import Thread
from typing import Any


class Interrupted(OrderedDict[object, Any]):
    """The other thread starts after a lookup and before its result is used."""

    def __init__(self, other: Thread) -> None:
        super().__init__()
        self.other = other

    def move_to_end(self, key: object, last: bool = True) -> None:
        if not self.other.ident:
            self.other.start()
            self.other.join(timeout=1.0)  # or it waits, as it should
        super().move_to_end(key, last)
