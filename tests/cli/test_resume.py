"""`regard train --resume FOLDER` needs only the folder; the time of a run is estimated before its first step."""

import json
from pathlib import Path

import pytest

from lab.compare.conftest import RECIPE
from regard.cli.training_display import Clock
from regard.training.journal import NAME
from regard.training.run import train

from .conftest import Command


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    recipe, run = tmp_path / "tiny.toml", tmp_path / "run"
    recipe.write_text(RECIPE, encoding="utf-8")

    def stop(event: object) -> None:
        if getattr(event, "kind", "") == "validated":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(str(recipe), run, listener=stop)
    recipe.unlink()
    return run


def last_event(run: Path) -> dict[str, object]:
    entry: dict[str, object] = json.loads((run / NAME).read_text(encoding="utf-8").splitlines()[-1])
    return entry


def test_resume_needs_nothing_but_the_folder(command: Command, interrupted: Path) -> None:
    outcome = command("train", "--resume", interrupted)
    assert outcome.code == 0, outcome.err
    assert outcome.out == f"{interrupted}\n"
    assert (last_event(interrupted)["reason"], last_event(interrupted)["step"]) == ("steps", 6)
    again = command("train", "--resume", "--out", interrupted)
    assert "is finished already, at step 6" in again.err


def test_the_time_is_estimated_before_training_begins(command: Command, interrupted: Path) -> None:
    outcome = command("train", interrupted, "--resume")
    estimate = outcome.err.index("at most, validation not counted")
    assert estimate < outcome.err.index("best exact match")
    started = [json.loads(line) for line in (interrupted / NAME).read_text(encoding="utf-8").splitlines()]
    assert all(one["estimate"] > 0 for one in started if one["event"] == "started")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume"], "--resume needs the folder of a run, as in regard train --resume runs/mine"),
        (["--resume", "."], "nothing to resume in .: there is no run"),
        (["--resume", "runs/gone"], "nothing to resume: there is no folder runs/gone"),
        (["--resume", "RUN", "--out", "other"], "but --out names other: leave one of them out"),
        (["--resume", "RUN", "--set", "train.learning_rate=0.5"], "was started with another recipe"),
    ],
)
def test_invalid_uses_of_resume(
    command: Command, interrupted: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(interrupted.parent)
    outcome = command("train", *[one.replace("RUN", str(interrupted)) for one in arguments])
    assert outcome.code == 2
    assert message in outcome.complaint


def test_a_recipe_in_a_run_folder_imports_no_class_of_its_own(command: Command, interrupted: Path) -> None:
    path = interrupted / "recipe.json"
    recipe = json.loads(path.read_text(encoding="utf-8"))
    recipe["model"]["score"] = "os:abort"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    outcome = command("train", "--resume", interrupted)
    assert outcome.code in (1, 2)
    assert "os:abort" in outcome.complaint


def test_keys_are_listed(command: Command) -> None:
    outcome = command("train", "--keys")
    assert outcome.code == 0
    assert "learning_rate" in outcome.out
    assert "default 0.001" in outcome.out


def test_a_comparison_estimates_its_time() -> None:
    now = [0.0]
    clock = Clock(lambda: now[0])
    assert clock.left(0.5) == ""  # half was done before
    now[0] = 100.0
    assert clock.left(0.75) == ", about 100 s left"
    assert clock.due()
    assert not clock.due()
    assert clock.left(1.0) == ""
