"""The process that trains the demo for the studio: `python -m regard.server.training_child '{"pair": …}'`.

It lowers its priority, trains into a new run folder, and after each validation writes a snapshot of the pinned
sentences. SIGINT, SIGTERM or the end of the server saves a checkpoint and ends it, as with `regard train`.
"""

import json
import os
import signal
import sys
from pathlib import Path
from threading import Thread

from regard.lab.run_demo import train_demo
from regard.server.snapshot_listener import snapshot_listener
from regard.text.input_error import InputError

SNAPSHOTS = 26
"""Validations of a run, about."""
BATCH, LEAST_PAIRS, MOST_PAIRS = 64, 2_000, 80_000
"""Sentences of a step, and limits of the pairs that are generated: a short run gets no more than it can see."""
PRIORITY = 5
"""Niceness, so that the page stays responsive."""


def main() -> int:
    given = json.loads(sys.argv[1])
    Thread(target=_end_with_the_server, daemon=True).start()
    pair, out, steps = str(given["pair"]), Path(given["out"]), given["steps"]
    if hasattr(os, "nice"):
        os.nice(PRIORITY)
    every = max(1, (steps or 2600) // SNAPSHOTS)
    overrides = [f"train.validate_every={every}", "train.validate_sentences=100"]
    if steps:
        pairs = min(MOST_PAIRS, max(LEAST_PAIRS, BATCH * steps))
        overrides += [f"train.steps={steps}", f"train.warmup={min(100, steps)}", f"data.train={pairs}"]
    try:
        train_demo(pair, out, seed=int(given["seed"]), overrides=overrides, listener=snapshot_listener(out))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _end_with_the_server() -> None:
    """The server holds the other end of standard input: it closes when the server ends in any way."""
    os.read(0, 1)  # not sys.stdin: its lock would break the end of the interpreter
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
