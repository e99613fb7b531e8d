"""A child of test_forged: loads every folder that standard input names, with one gigabyte more than it takes to start.

Prints one JSON line for each: what became of it, the processor time it took, and the peak memory of the process so far.
"""

import json
import re
import resource
import sys
import time
from pathlib import Path

from regard.bundle import load_bundle
from regard.text.input_error import InputError

GIGABYTE = 1 << 30


def main() -> None:
    most = _memory("VmSize") + GIGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for line in sys.stdin:
        folder, start = Path(line.rstrip("\n")), time.process_time()
        try:
            load_bundle(folder)
            kind, message = "loaded", ""
        except InputError as error:
            kind, message = "refused", str(error)
        except BaseException as error:  # reported by the test
            kind, message = type(error).__name__, str(error)[:300]
        answer = {
            "kind": kind,
            "message": message,
            "seconds": time.process_time() - start,
            "peak": _memory("VmHWM"),
        }
        sys.stdout.write(json.dumps({"name": folder.name, **answer}) + "\n")
        sys.stdout.flush()


def _memory(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) * 1024


main()
