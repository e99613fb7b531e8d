"""Progress of slow work in a check: a bar is shown, and the time does not count as the learner's."""

from collections.abc import Callable
from contextvars import ContextVar

Waiting = Callable[[str, int, int], None]
"""The name of the work, the amount that is done, and the total."""


def ignore_progress(what: str, done: int, total: int) -> None:
    """Progress is not reported."""


LISTENER: ContextVar[Waiting] = ContextVar("LISTENER", default=ignore_progress)
REMARKS: ContextVar[tuple[str, ...]] = ContextVar("REMARKS", default=())
"""Sentences for the learner that checks have added."""


def remark(sentence: str) -> None:
    """Add a sentence to the verdict, whatever that is."""
    REMARKS.set((*REMARKS.get(), sentence))


def busy(what: str, done: int, total: int) -> None:
    """Report to the listener, a few times a second at most."""
    LISTENER.get()(what, done, total)


def bar(what: str, done: int, total: int, width: int = 80) -> str:
    """`training, once  ████████░░░░░░  57 %`.

    >>> bar("training, once", 57, 100, width=41)
    'training, once  ██████████░░░░░░░░  57 %'
    """
    share = min(max(done / total if total else 0.0, 0.0), 1.0)
    room = max(6, min(40, width - len(what) - 9))
    filled = round(share * room)
    return f"{what}  {'█' * filled}{'░' * (room - filled)} {share:>4.0%}".replace("%", " %")
