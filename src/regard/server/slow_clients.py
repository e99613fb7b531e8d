"""Closes the connections of clients that do not send their request, or do not read their answer."""

import asyncio
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import h11

LOOK = 0.5
"""Seconds between two checks."""


async def close_slow(connections: Callable[[], Iterable[Any]], seconds: float) -> None:
    """Abort uvicorn's connections that keep the server waiting longer than `seconds`; uvicorn has no such limit."""
    since: dict[tuple[Any, Hashable], float] = {}
    while True:
        await asyncio.sleep(LOOK)
        now = time.monotonic()
        waiting = [(one, what) for one in list(connections()) if (what := _waits_for(one)) is not None]
        since = {key: since.get(key, now) for key in waiting}
        for (one, _), begun in since.items():
            if now - begun >= seconds:
                one.transport.abort()


def _waits_for(connection: Any) -> Hashable:
    """The part of a request that is missing, or the bytes that the client has not read; None while it answers."""
    unread: int = connection.transport.get_write_buffer_size()
    if unread:
        return unread
    state = connection.conn.their_state
    between = state is h11.IDLE and connection.timeout_keep_alive_task is not None  # uvicorn closes these
    return None if between or state not in (h11.IDLE, h11.SEND_BODY) else str(state)
