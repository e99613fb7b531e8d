"""The number of threads of a run: one, unless more are clearly faster."""

from pathlib import Path

import pytest
import torch

from regard.training.dry_run import best_threads
from regard.training.journal import Started
from regard.training.run import train

from .tiny import Listener, tiny


class Machine:
    """A fake clock that a step advances by its time for the current number of threads."""

    def __init__(self, seconds: dict[int, float]) -> None:
        self.seconds = seconds
        self.now = 0.0
        self.steps: list[int] = []

    def step(self) -> None:
        self.steps.append(torch.get_num_threads())
        self.now += self.seconds[torch.get_num_threads()]

    def best(self) -> int:
        return best_threads(self.step, sorted(self.seconds), lambda: self.now)


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        ({1: 0.4, 2: 0.1}, 2),
        ({1: 0.4, 2: 0.3}, 1),
        ({1: 0.2, 2: 2.0}, 1),
        ({1: 0.9, 2: 0.4, 4: 0.35}, 2),
        ({1: 0.9, 2: 0.8, 4: 0.1}, 4),
    ],
)
def test_more_threads_must_save_half_of_the_time(seconds: dict[int, float], wanted: int) -> None:
    before = torch.get_num_threads()
    assert Machine(seconds).best() == wanted
    assert torch.get_num_threads() == before


def test_a_slow_step_is_timed_only_twice() -> None:
    machine = Machine({1: 5.0, 2: 4.0})
    machine.best()
    assert machine.steps == [1, 1, 2, 2]


@pytest.mark.parametrize("given", ["3", None])
def test_omp_num_threads_is_respected(given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are measured, over powers of two, only where the variable is not set."""
    monkeypatch.delenv("OMP_NUM_THREADS") if given is None else monkeypatch.setenv("OMP_NUM_THREADS", given)
    before, seen = torch.get_num_threads(), Listener()
    torch.set_num_threads(3)  # as torch does at its start with OMP_NUM_THREADS=3
    try:
        train(tiny(train={"steps": 1, "deterministic": False}), tmp_path / "run", listener=seen)
    finally:
        torch.set_num_threads(before)
    (started,) = (event for event in seen if isinstance(event, Started))
    assert (started.threads == 3) == (given == "3")
