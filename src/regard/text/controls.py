"""Escapes control characters, so that a terminal shows them instead of executing them."""

import re

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """Escape C0 and C1 controls except line feed and tab, and bidirectional overrides, in the form \\u001b.

    Joiners, direction marks and combining marks stay: words need them. Escaped JSON means the same.

    >>> escape_controls("a" + chr(27) + "[2Jb")
    'a\\\\u001b[2Jb'
    """
    return text if text.isprintable() else _OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
