"""`regard bench`: compared systems agree, systems that do not are not timed, and its figures are consistent."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matplotlib
import pytest
import torch

from regard.cli.main import run
from regard.cli.output import write_picture
from regard.lab.bench import time_training
from regard.lab.bench.growth import Point, Size, growth_figure, measure_growth
from regard.lab.bench.measure import rows, take_turns
from regard.lab.bench.textbook import Textbook, disagreement, ours_with
from regard.lab.bench.time_training import Disagreement, measure_training
from regard.lab.bench.workload import MULTI30K, PAPER, TUTORIAL, WORKS, Work
from regard.training.loss import batch_loss

TINY = Work("tiny", "gru", 30, 6, 8, 5, 4, 6, 5)
CPU = torch.device("cpu")


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("readout", ["state-context", "state-context-embedding"])
def test_our_model_with_the_textbooks_weights_equals_the_textbook(cell: str, readout: str) -> None:
    work = replace(TINY, cell=cell, readout=readout)
    torch.manual_seed(0)
    textbook = Textbook(work).double()
    ours, batch = ours_with(textbook), work.batch(lengths=(2, 6))
    losses = textbook(batch), batch_loss(ours, batch).objective
    for loss in losses:
        loss.backward()
    assert disagreement(textbook, ours, losses) < 1e-10


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1.0])
def test_one_wrong_number_in_any_gradient_is_a_disagreement(wrong: float) -> None:
    torch.manual_seed(0)
    textbook = Textbook(TINY)
    ours, batch = ours_with(textbook), TINY.batch()
    losses = textbook(batch), batch_loss(ours, batch).objective
    for loss in losses:
        loss.backward()
    assert disagreement(textbook, ours, losses) <= time_training.AGREE
    for parameter in ours.parameters():
        kept = parameter.grad.clone()
        parameter.grad.view(-1)[-1] += wrong
        assert not disagreement(textbook, ours, losses) <= time_training.AGREE
        parameter.grad.copy_(kept)


def test_a_table_names_every_system_against_the_first() -> None:
    found = measure_training(TINY, CPU, repeats=1)
    assert found.disagreement < time_training.AGREE
    names = [timing.name for timing in found.timings]
    assert names[:4] == ["textbook loop", "textbook loop, bf16", "ours", "ours, bf16"]
    assert found.timings[0].ratio == 1
    for timing in found.timings:
        assert timing.tokens_per_second == pytest.approx(TINY.rows * TINY.target / timing.milliseconds * 1e3)
        assert timing.ratio == pytest.approx(found.timings[0].milliseconds / timing.milliseconds)


def test_a_share_beyond_the_limit_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, where the textbook's many small products are slower one by one than ours are in all."""
    for milliseconds, noted in ((1e9, True), (0.0, False)):
        monkeypatch.setattr(time_training, "products_alone", lambda *_, ms=milliseconds: ms)
        notes = measure_training(TINY, CPU, repeats=1).notes
        assert any(note.startswith("more than the limit") for note in notes) is noted


def test_systems_that_disagree_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_numbers(textbook: Textbook) -> object:
        model = ours_with(textbook)
        with torch.no_grad():
            model.decoder.attention.v.mul_(2)
        return model

    monkeypatch.setattr(time_training, "ours_with", other_numbers)
    with pytest.raises(Disagreement, match=r"differ by .* in loss or gradients \(tiny\)"):
        measure_training(TINY, CPU, repeats=1)


def test_the_textbooks_step_can_be_replaced() -> None:
    torch.manual_seed(0)
    textbook, calls = Textbook(TINY), list[int]()

    def step(*given: object) -> object:
        calls.append(1)
        return textbook.step(*given)

    assert torch.equal(textbook(TINY.batch(), step=step), textbook(TINY.batch()))
    assert len(calls) == TINY.target


def test_a_compiled_step_is_measured_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a compiler that changes nothing: torch's own is slow and has its own warnings."""
    monkeypatch.setattr(torch, "compile", lambda step, **options: step)
    found = measure_training(TINY, CPU, repeats=1, compiled=True)
    assert "textbook loop, its step compiled" in [timing.name for timing in found.timings]


def test_a_compiled_step_that_disagrees_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(step: Callable[..., tuple[torch.Tensor, object]], **options: object) -> object:
        def twice(*given: object) -> tuple[torch.Tensor, object]:
            logits, hidden = step(*given)
            return 2 * logits, hidden

        return twice

    monkeypatch.setattr(torch, "compile", wrong)
    with pytest.raises(Disagreement, match=r"the compiled step and the textbook loop differ by .* \(tiny\)"):
        measure_training(TINY, CPU, repeats=1, compiled=True)


def test_the_work_counts_its_products() -> None:
    """3.18 TFLOP for a step of the paper's size, the figure of the design."""
    assert 6.0 * sum(m * k * n for m, k, n in PAPER.products) == pytest.approx(3.18e12, rel=0.01)


def test_batches_are_full_unless_lengths_are_given() -> None:
    full, ragged = TUTORIAL.batch(), MULTI30K.batch(lengths=(3, 9))
    assert full.source_real.all()
    assert (full.target_out != 0).all()
    assert ragged.source_lengths.min() >= 3
    assert ragged.source_lengths.max() <= 9
    assert torch.equal(ragged.source_real.sum(dim=1), ragged.source_lengths)
    assert torch.equal((ragged.target_out != 0).sum(dim=1), ragged.target_lengths)


def test_turns_are_taken() -> None:
    order: list[str] = []
    take_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2, CPU)
    assert order == ["a", "b", "a", "b", "a", "b"]  # once each to warm up


def test_rows_relate_time_and_limit() -> None:
    first, second = rows({"a": 10.0, "b": 5.0}, 100, {"a": None, "b": 3.0}, {"a": 1.0, "b": None})
    assert (first.ratio, second.ratio) == (1, 2)
    assert (first.share, second.share) == (0.1, None)
    assert second.tokens_per_second == 20_000


@pytest.mark.slow
def test_a_picture_runs_no_hook_of_the_current_folder_s_matplotlibrc(tmp_path: Path) -> None:
    points = [Point(axis, Size(1, 2, 4), "plain", 1.0, 2.0) for axis in ("length", "width", "batch")]
    with matplotlib.rc_context({"figure.hooks": ["os:abort"]}):
        write_picture(growth_figure(points, "a machine"), tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 1000


def test_growth_is_measured_along_each_axis() -> None:
    points = measure_growth(CPU, repeats=1)
    assert {point.axis for point in points} == {"length", "width", "batch"}
    assert len({point.size for point in points if point.axis == "length"}) == 5
    assert all(point.milliseconds > 0 for point in points)


def test_the_command_prints_a_table_and_keeps_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(WORKS, "tiny", TINY)
    kept = tmp_path / "bench.json"
    assert run(["bench", "--work", "tiny", "--repeats", "1", "--json", str(kept)]) == 0
    out = capsys.readouterr().out
    assert "gradients agree to" in out
    assert "ours, bf16" in out
    record = json.loads(kept.read_text())
    assert record["training"][0]["work"]["name"] == "tiny"
    assert record["date"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--work", "huge"], "no work 'huge' to measure: valid choices are tutorial, multi30k, paper"),
        (["--json", "nowhere/at/all.json"], "there is no folder nowhere/at to write all.json into"),
        (["--json", "."], "--json: . is a folder; name a file in it"),
        (["--picture", "growth.jpeg2"], "growth.jpeg2 ends in .jpeg2; expected .png, .svg or .pdf"),
    ],
)
def test_wrong_use_is_reported_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--gpu"]) == 2
    assert "torch sees no CUDA device" in capsys.readouterr().err
