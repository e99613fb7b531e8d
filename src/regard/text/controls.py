"""Control characters written out, so that a terminal shows what a file holds instead of obeying it."""

import re

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """C0 and C1 controls but line feed and tab, and what reorders text from right to left, as \\u001b is written.

    Joiners, marks of direction and combining marks stay, for they spell words. JSON stays the same JSON.

    >>> escape_controls("a" + chr(27) + "[2Jb")
    'a\\\\u001b[2Jb'
    """
    return text if text.isprintable() else _OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
