"""REGARD_PLAIN=1: everything through torch's own operations, step by step, to see whether a fast path is to blame."""

import os


def plain_wanted() -> bool:
    """Whether kernels and hand-written gradients are to be left alone."""
    return os.environ.get("REGARD_PLAIN", "0").lower() in ("1", "true", "on", "yes")
