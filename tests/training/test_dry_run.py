"""How many threads a run takes: one, unless more are clearly quicker."""

import pytest
import torch

from regard.training.dry_run import best_threads


class Machine:
    """A clock that a step moves on by what it takes with so many threads."""

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
def test_more_threads_must_win_by_half(seconds: dict[int, float], wanted: int) -> None:
    before = torch.get_num_threads()
    assert Machine(seconds).best() == wanted
    assert torch.get_num_threads() == before


def test_a_slow_step_is_tried_twice_and_no_more() -> None:
    machine = Machine({1: 5.0, 2: 4.0})
    machine.best()
    assert machine.steps == [1, 1, 2, 2]
