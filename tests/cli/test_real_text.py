"""The commands of the guide to real text, on the real corpus if there is a local copy."""

import json
import os
from pathlib import Path

import pytest

from .conftest import Command

SHARED = Path(os.environ.get("REGARD_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")


@pytest.mark.long
def test_get_look_train_measure_align(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (SHARED / "multi30k").is_dir():
        pytest.skip("no copy of multi30k: set REGARD_DATA to a folder of corpora")
    monkeypatch.delenv("REGARD_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    assert command("data", "get", "multi30k", "--from", SHARED).out == f"{tmp_path / 'home' / 'regard' / 'multi30k'}\n"
    assert "✓ test: 1,000 pairs, none of their sources in training" in command("doctor", "multi30k").out
    small = ["data.limit=600", "model.size=tiny", "text.vocabulary=500", "train.steps=4", "train.validate_sentences=5"]
    changes = [word for one in (*small, "search.longest=8", "train.average=0") for word in ("--set", one)]
    trained = command("train", "multi30k-en-de", *changes, "--out", tmp_path / "run")
    assert trained.code == 0, trained.err
    assert "note: train.en: only the first 600 training pairs are used (data.limit)" in trained.err
    for split in ([], ["--split", "test_2017_flickr"]):
        scores = command("evaluate", tmp_path / "run", *split, "--protocol", "multi30k-de", "--beam", 1, "--json")
        assert scores.code == 0, scores.err
        assert json.loads(scores.out)["sentences"] == 1000
    aligned = command("align", tmp_path / "run", "--split", "dev")
    assert aligned.code == 0, aligned.err
    assert len(aligned.out.splitlines()) == 1014
