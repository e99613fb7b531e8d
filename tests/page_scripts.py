"""Reads the scripts that hold the files of a page without a server."""

import gzip
import re

_RAW = {b"\\\\": b"\\", b'\\"': b'"', b"\\n": b"\n", b"\\r": b"\r"}


def from_script(script: bytes) -> bytes:
    """The data that `regard.export.web_model.as_script` packed."""
    found = re.fullmatch(rb'regardFile\("(.*)"\)\n', script, re.DOTALL)
    assert found is not None
    return gzip.decompress(re.sub(rb'\\[\\"nr]', lambda one: _RAW[one[0]], found[1]))
