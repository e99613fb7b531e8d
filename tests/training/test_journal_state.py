"""Runs that ended before their last step, as found in the journal."""

import json
from pathlib import Path

import pytest

from regard.training.journal import NAME, cut_short

STARTED = {"event": "started", "total_steps": 6000}


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([], ""),
        ([STARTED], ""),
        ([STARTED, {"event": "step", "step": 13}], "has not ended, at step 13 of 6,000"),
        ([STARTED, {"event": "finished", "step": 13, "reason": "early"}], "stopped early, at step 13 of 6,000"),
        ([STARTED, {"event": "finished", "step": 13, "reason": "interrupted"}], "was interrupted, at step 13 of 6,000"),
        ([STARTED, {"event": "finished", "step": 6000, "reason": "steps"}], ""),
        ([{"event": "started", "total_steps": "many"}, {"event": "step"}], ""),
    ],
)
def test_the_last_step_of_an_unfinished_run_is_reported(
    tmp_path: Path, events: list[dict[str, object]], message: str
) -> None:
    (tmp_path / NAME).write_text("".join(json.dumps(one) + "\n" for one in events), encoding="utf-8")
    assert cut_short(tmp_path) == message
