"""The process that trains the demo for the studio: `python -m regard.server.training_child '{"pair": …}'`.

It lowers its priority, trains into a new run folder, and after each validation writes a snapshot of the pinned
sentences. SIGINT or SIGTERM saves a checkpoint and ends it, as with `regard train`.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from regard.data import phrasebook
from regard.lab.run_demo import train_demo
from regard.runtime.translator import load
from regard.server.run_replay import NAME, Pinned, add_snapshot, begin_replay, pinned_sides, take_snapshot
from regard.text.input_error import InputError
from regard.training.journal import Event, Finished, Stepped, Validated

PINNED = 4
"""Sentences of the showcase."""
SNAPSHOTS = 26
"""Validations of a run, about."""
BATCH, LEAST_PAIRS, MOST_PAIRS = 64, 2_000, 80_000
"""Sentences of a step; of a short run no more are made than it can see."""
PRIORITY = 5
"""Niceness, so that the page stays responsive."""


def main() -> int:
    given = json.loads(sys.argv[1])
    pair, out, steps = str(given["pair"]), Path(given["out"]), given["steps"]
    if hasattr(os, "nice"):
        os.nice(PRIORITY)
    every = max(1, (steps or 2600) // SNAPSHOTS)
    overrides = [f"train.validate_every={every}", "train.validate_sentences=100"]
    if steps:
        pairs = min(MOST_PAIRS, max(LEAST_PAIRS, BATCH * steps))
        overrides += [f"train.steps={steps}", f"train.warmup={min(100, steps)}", f"data.train={pairs}"]
    try:
        train_demo(pair, out, seed=int(given["seed"]), overrides=overrides, listener=snapshots(pair, out))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def snapshots(pair: str, out: Path) -> Callable[[Event], None]:
    """A listener: the checkpoint of a validation is there when the next step, or the end, is reported."""
    sentences: list[Pinned] = [(one.source, one.target) for one in phrasebook.showcase(pair)[:PINNED]]
    waiting: list[Validated] = []

    def listen(event: Event) -> None:
        if isinstance(event, Validated):
            waiting.append(event)
        elif waiting and isinstance(event, Stepped | Finished):
            done = waiting.pop()
            translator = load(out / "last")
            if not (out / NAME).exists():
                begin_replay(out, pinned_sides(translator, sentences, *pair.split("-")))
            add_snapshot(out, take_snapshot(translator, sentences, done.step, done.score))

    return listen


if __name__ == "__main__":
    sys.exit(main())
