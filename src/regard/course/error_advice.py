"""Explains an exception to the author of the line: shapes that do not fit, an index too far, a missing name."""

import re

from regard.course.array_errors import ARRAY_ERRORS
from regard.course.python_errors import PYTHON_ERRORS


def advice_for(error: BaseException) -> str:
    """A sentence or two; empty if the error's own message is enough."""
    try:
        message = str(error)
    except Exception:
        return ""
    for kind, pattern, explain in (*ARRAY_ERRORS, *PYTHON_ERRORS):
        found = re.search(pattern, message) if isinstance(error, kind) else None
        if found:
            return explain if isinstance(explain, str) else explain(found)
    return ""
