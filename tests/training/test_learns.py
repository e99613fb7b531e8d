"""The published promise: `regard train reverse` learns to reverse, and its attention is the anti-diagonal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.data.splits import load_split
from regard.training.recipe import load_recipe

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.long
def test_the_reverse_recipe_gets_99_of_100_unseen_sequences_right_by_looking_from_the_end(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from regard.cli.main import main; main()", "train", "reverse"]
    options = ["--out", str(tmp_path / "run"), "--deterministic", "--set", "train.device=cpu"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'run'}\n", "data goes to stdout, talk to stderr"
    pairs = load_split(load_recipe("reverse").data, "test").pairs
    assert len(pairs) == 1000
    translations = regard.load(tmp_path / "run").translate([pair.source for pair in pairs])
    right = [one.text == pair.target for one, pair in zip(translations, pairs, strict=True)]
    assert sum(right) / len(right) >= 0.99
    expected = [{(len(pair.source.split()) - 1 - t, t) for t in range(len(pair.source.split()))} for pair in pairs]
    looked = [len(one.alignment & links) / len(links) for one, links in zip(translations, expected, strict=True)]
    assert sum(looked) / len(looked) >= 0.99
