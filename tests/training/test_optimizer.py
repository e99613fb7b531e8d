"""Learning rate and teacher forcing as functions of the step."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.training.optimizer import learning_rate, teacher_forcing
from regard.training.train_config import TrainConfig

FALLING = ("linear", "exponential", "inverse-sigmoid")


def config(**keys: object) -> TrainConfig:
    return TrainConfig.model_validate({"steps": 100, "batch_sentences": 1, "learning_rate": 0.1, **keys})


@given(st.sampled_from(["constant", "cosine", "inverse-sqrt", "plateau"]), st.integers(1, 50))
def test_the_rate_rises_linearly_and_meets_the_schedule_at_its_top(schedule: str, warmup: int) -> None:
    rates = [learning_rate(config(schedule=schedule, warmup=warmup), step, 100) for step in range(1, 101)]
    for step in range(1, warmup + 1):
        assert rates[step - 1] == pytest.approx(0.1 * step / warmup)
    assert max(rates) == pytest.approx(0.1)
    assert rates[warmup] == pytest.approx(0.1, rel=0.3 if schedule == "inverse-sqrt" else 0.01)


def test_cosine_halves_in_the_middle_and_ends_at_final_rate() -> None:
    given_end = config(schedule="cosine", final_rate=0.2)
    assert learning_rate(given_end, 50, 100) == pytest.approx(0.1 * (0.2 + 0.8 / 2))
    assert learning_rate(given_end, 100, 100) == pytest.approx(0.02)
    assert learning_rate(given_end, 250, 100) == pytest.approx(0.02), "it never rises again"


def test_inverse_square_root_halves_when_the_steps_are_four_times_the_warm_up() -> None:
    assert learning_rate(config(schedule="inverse-sqrt", warmup=10), 40, 100) == pytest.approx(0.05)


def test_plateau_falls_by_its_factor_each_time() -> None:
    falling = config(schedule="plateau", plateau_factor=0.3)
    assert [learning_rate(falling, 9, 100, plateau=count) for count in range(3)] == pytest.approx([0.1, 0.03, 0.009])


def test_constant_forcing_stays() -> None:
    assert {teacher_forcing(config(teacher_forcing=0.5), step, 100) for step in range(1, 101)} == {0.5}


@given(st.sampled_from(FALLING), st.floats(0.3, 1), st.floats(0, 0.3), st.floats(0.1, 100), st.integers(2, 60))
def test_falling_forcing_goes_from_start_to_end_and_never_rises(
    schedule: str, start: float, end: float, speed: float, total: int
) -> None:
    keys = {"teacher_forcing": start, "teacher_forcing_end": end, "teacher_forcing_speed": speed}
    shares = [
        teacher_forcing(config(teacher_forcing_schedule=schedule, **keys), step, total) for step in range(1, total + 1)
    ]
    assert shares[0] == pytest.approx(start)
    assert shares[-1] == pytest.approx(end, abs=1e-9)
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(shares))


def test_the_three_falls_have_their_shapes() -> None:
    middle = {name: teacher_forcing(config(teacher_forcing_schedule=name), 51, 101) for name in FALLING}
    assert middle["linear"] == pytest.approx(0.5)
    assert middle["inverse-sigmoid"] == pytest.approx(0.5)
    assert middle["exponential"] == pytest.approx((math.exp(-2.5) - math.exp(-5)) / (1 - math.exp(-5)))
    early = {name: teacher_forcing(config(teacher_forcing_schedule=name), 11, 101) for name in FALLING}
    assert early["exponential"] < early["linear"] < early["inverse-sigmoid"]
