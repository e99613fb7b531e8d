"""Exercise 17: a translator is trained once and kept, and what a learner's function does inside it is drawn."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.course.attempt import load_attempt
from regard.course.catalogue import find
from regard.course.exercises.e17_repair import mistakes, replaced_attention, small_translator
from regard.course.exercises.e17_repair.check import EXERCISE, trained
from regard.course.grade import grade
from regard.course.process import Grader

REAL_CHANGES = small_translator.CHANGES
UNIFORM = """
    def attend(query, states, real, W_s, W_h, v):
        weights = real.to(states.dtype) / real.sum(dim=1, keepdim=True)
        return (weights[..., None] * states).sum(dim=1), weights
"""


@pytest.fixture
def user_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(small_translator, "NEWS_SECONDS", 0.0)
    return tmp_path / "cache" / "regard"


class News(list[int]):
    """Which steps were told."""

    def __call__(self, what: str, done: int, total: int) -> None:
        self.append(done)


def test_trained_once_and_kept(user_cache: Path) -> None:
    first, second, third = News(), News(), News()
    before = small_translator.translator(first)
    again = small_translator.translator(second)
    assert first == [1, 2, 3, 4, 5, 6, 7, 8]
    assert second == []
    assert torch.equal(before.model.decoder.readout.output.weight, again.model.decoder.readout.output.weight)
    assert sorted(path.suffix for path in user_cache.iterdir()) == ["", ".lock"]
    (again.path / "model.safetensors").write_bytes(b"cut short")
    small_translator.translator(third)
    assert third[-1] == 8


def test_a_training_that_was_stopped_goes_on(user_cache: Path) -> None:
    def stop(what: str, done: int, total: int) -> None:
        if done == 6:
            raise ZeroDivisionError("the learner saved anew")

    with pytest.raises(ZeroDivisionError):
        small_translator.translator(stop)
    news = News()
    small_translator.translator(news)
    assert news == [5, 6, 7, 8]


def test_a_home_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = small_translator.cache_home()
    assert place.parent == tmp_path
    assert place.is_dir()


def test_the_transplant_is_the_original_when_its_function_is() -> None:
    bundle = small_translator.translator()
    right = replaced_attention.translate(bundle, EXERCISE.reference["attend"])
    for mine, own in zip(right, replaced_attention.translate(bundle), strict=True):
        assert mine.text == own.text
        np.testing.assert_allclose(mine.attention, own.attention, atol=1e-6)
    wrong = replaced_attention.translate(bundle, mistakes.uniform)[0]
    assert wrong.attention is not None
    assert wrong.attention.max() == pytest.approx(1 / 8)


def test_right_or_wrong_it_is_drawn(write: Callable[..., Path]) -> None:
    path = write(UNIFORM)
    verdict = grade(EXERCISE, load_attempt(path, EXERCISE.functions, EXERCISE.reference))
    assert verdict.mistake == "uniform"
    assert path.with_name("heatmap.png").read_bytes().startswith(b"\x89PNG")


def test_a_starter_waits_for_no_training(user_cache: Path, write: Callable[..., Path]) -> None:
    path = write(find("repair").starter)
    verdict = grade(EXERCISE, load_attempt(path, EXERCISE.functions, EXERCISE.reference))
    assert verdict.status == "unfinished"
    assert not user_cache.exists()


@pytest.mark.long
def test_end_to_end(user_cache: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The real training, with its bar; then the translator speaks French."""
    monkeypatch.setattr(small_translator, "CHANGES", REAL_CHANGES)
    trained.cache_clear()
    entry, news = find("repair"), News()
    path = write(entry.solution)
    with Grader(entry) as grader:
        verdict = grader.grade(path, waiting=news)
    assert verdict.passed, verdict
    assert news[-1] == 1000
    assert path.with_name("heatmap.png").is_file()
    (kept,) = (found for found in user_cache.iterdir() if found.is_dir())
    said = [one.text for one in replaced_attention.translate(small_translator.load_bundle(kept))]
    wanted = ["le chat noir était assis sur le tapis", "jane visite l'afrique en septembre", "je t'aime"]
    assert [said[0], said[1], said[3]] == wanted
    trained.cache_clear()
