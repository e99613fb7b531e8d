"""Connects to Ray: a cluster that RAY_ADDRESS names, or one that is started on this machine."""

import logging
import os
import re
import socket

from regard.bounds import cut
from regard.text.input_error import InputError

SECONDS = 10
"""How long a cluster has to answer; Ray itself asks for more than ten minutes."""


def connect(workers: int) -> bool:
    """Whether a Ray was started here, which the caller ends; InputError if no cluster answers at RAY_ADDRESS."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        return False
    address = os.environ.get("RAY_ADDRESS", "")
    here = None if "RAY_ADDRESS" in os.environ else workers  # a cluster knows how many processors it has
    try:
        check_reachable(address)
        ray.init(log_to_driver=False, logging_level=logging.ERROR, num_cpus=here)
    except (ConnectionError, TimeoutError, socket.gaierror, ValueError) as error:
        if not address:
            raise
        raise InputError(
            f"no Ray cluster at RAY_ADDRESS={cut(address)} ({cut(str(error))}): start it with ray start --head, "
            "correct RAY_ADDRESS, or unset it to use this machine"
        ) from error
    return True


def check_reachable(address: str) -> None:
    """Raise at once if nothing listens at `host:port` or `ray://host:port`."""
    if found := re.fullmatch(r"(?:ray://)?\[?(.+?)\]?:(\d{1,5})", address):
        socket.create_connection((found[1], int(found[2])), timeout=SECONDS).close()
