"""TensorBoard: an extra that writes scalars; if it is not installed, the error names the pip command."""

import sys
import warnings
from pathlib import Path

import pytest

from regard.text.input_error import InputError
from regard.training.run import train

from .tiny import stopped, tiny

RECIPE = tiny(train={"steps": 4, "validate_every": 2, "checkpoint_every": 2, "average": 2, "tensorboard": True})


def test_a_missing_package_raises_with_its_pip_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tensorboard", "torch.utils.tensorboard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"^train.tensorboard = true needs .*: pip install 'regard\[tensorboard\]'$"):
        train(RECIPE, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_package_is_imported_only_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    train(tiny(train={"steps": 1}), tmp_path / "run")
    assert not (tmp_path / "run" / "tensorboard").exists()


@pytest.mark.filterwarnings("ignore")
def test_scalars_of_every_step_are_written_also_after_resume(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    stopped(RECIPE, tmp_path / "run", 3)
    train(RECIPE, tmp_path / "run", resume=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
        found.Reload()
    steps = {name: [one.step for one in found.Scalars(name)] for name in found.Tags()["scalars"]}
    assert steps == {
        "loss/training": [1, 2, 3, 4],
        "learning rate": [1, 2, 3, 4],
        "gradient norm": [1, 2, 3, 4],
        "tokens per second": [1, 2, 3, 4],
        "loss/validation": [2, 4],
        "score/exact_match": [2, 4],
        "score/averaged exact_match": [4],
    }
