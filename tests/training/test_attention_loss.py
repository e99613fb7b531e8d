"""Guided alignment and coverage: the numbers of the formulas, gradients of every architecture, and that it teaches."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.alignment import LinkRule
from regard.data.batch import Batch
from regard.data.guidance import Guidance
from regard.lab.align_corpus import Direction, align
from regard.lab.parallel import ParallelText
from regard.models import Seq2Seq, preset
from regard.runtime.aligner import Aligner
from regard.text.input_error import InputError
from regard.text.special import BOS, EOS, PAD
from regard.training.loss import attention_loss, batch_loss
from regard.training.recipe import load_recipe

from .tiny import tiny

SOURCE = torch.tensor([[5, 6, EOS], [7, EOS, PAD]])
TARGET = torch.tensor([[BOS, 8, 9, EOS], [BOS, 8, EOS, PAD]])
LINKS = torch.zeros(2, 3, 3, dtype=torch.bool)
LINKS[0, 0, 0] = LINKS[0, 1, 0] = LINKS[0, 1, 1] = LINKS[1, 0, 0] = True


def batch(**guidance: Any) -> Batch:
    guidance_ = Guidance(**{"links": LINKS, "weight": 0.0, "layer": 0, "head": 0, "coverage": 0.0, **guidance})
    return Batch(SOURCE, torch.tensor([3, 2]), TARGET, torch.tensor([3, 2]), torch.arange(2), guidance_)


def loss(weights: torch.Tensor, **guidance: Any) -> float:
    one = batch(**guidance)
    assert one.guidance is not None
    return float(attention_loss(weights, one, one.guidance))


def test_the_formulas() -> None:
    weights = torch.tensor([[[0.5, 0.25, 0.25], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[0.25, 0.75, 0.0]] * 3])
    weights = weights[:, None, None]
    guided = -(math.log(0.5) + 0.5 * (math.log(0.5) + math.log(0.5)) + math.log(0.25))
    assert loss(weights, weight=2.0) == pytest.approx(2 * guided, rel=1e-6)
    # Sums over the real steps: first row 1.0 and 0.75; second row 0.5, its third step is padding.
    coverage = (1 - 1.0) ** 2 + (1 - 0.75) ** 2 + (1 - 0.5) ** 2
    assert loss(weights, coverage=3.0) == pytest.approx(3 * coverage, rel=1e-6)
    assert loss(weights) == 0.0
    assert loss(weights, links=None, weight=1.0) == 0.0


def test_a_zero_attention_weight_gives_a_large_finite_loss() -> None:
    assert math.isfinite(loss(torch.zeros(2, 1, 1, 3, 3), weight=1.0))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bahdanau", {}),
        ("bahdanau", {"cell": "lstm", "encoder_layers": 2, "decoder_layers": 2}),
        ("luong", {}),
        ("luong", {"input_feeding": False, "window": "local-p", "reach": 2}),
        ("transformer", {"width": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 2, "feedforward": 8}),
    ],
    ids=["one operation", "step by step", "input feeding", "at once", "transformer"],
)
def test_gradients_equal_finite_differences(name: str, changes: dict[str, Any]) -> None:
    torch.manual_seed(0)
    small = changes if name == "transformer" else {"embedding": 4, "encoder_units": 4, "decoder_units": 4, **changes}
    model = Seq2Seq(preset(name, "tiny", **small, dropout=0.0), 10, 10).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    one = batch(weight=0.7, coverage=0.3)
    assert one.guidance is not None
    guidance_ = one.guidance
    assert batch_loss(model, one).objective > batch_loss(model, replace(one, guidance=None)).objective

    def objective() -> torch.Tensor:
        looked = model(one, one.target_in, want_weights=True).weights
        assert looked is not None
        return attention_loss(looked, one, guidance_)

    objective().backward()
    generator, step = np.random.default_rng(0), 1e-6
    for parameter in model.parameters():
        if parameter.grad is None:
            continue
        flat, place = parameter.data.view(-1), int(generator.integers(parameter.numel()))
        before = float(flat[place])
        ends = []
        for change in (step, -step):
            flat[place] = before + change
            ends.append(float(objective().detach()))
        flat[place] = before
        assert float(parameter.grad.view(-1)[place]) == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


@pytest.mark.slow
def test_attention_learns_the_given_links_even_wrong_ones(tmp_path: Path) -> None:
    """The task is copying, the links are reversed: attention follows the links."""
    links = tmp_path / "links"
    recipe: dict[str, Any] = {
        "data": {"kind": "copy", "vocabulary": 12, "shortest": 4, "longest": 4, "train": 400, "dev": 20, "test": 20},
        "model": {"embedding": 16, "encoder_units": 24, "decoder_units": 24},
        "train": {"steps": 150, "batch_sentences": 32, "learning_rate": 1e-2, "guide": {"weight": 2.0, "links": links}},
    }
    links.write_text("0-3 1-2 2-1 3-0\n" * 400, encoding="utf-8")
    regard.train(tiny(**recipe), tmp_path / "run")
    direction = Direction(Aligner(regard.load(tmp_path / "run").bundle), LinkRule())
    aligned = align(ParallelText(["3 4 5 6"], ["3 4 5 6"]), direction)
    assert aligned.links == [{(0, 3), (1, 2), (2, 1), (3, 0)}]


def test_runs_with_guidance_are_resumed_to_the_bit(tmp_path: Path) -> None:
    from .tiny import equal, weights

    guidance_ = {"guide": {"weight": 0.5}, "coverage": 0.1}
    regard.train(tiny(train={"steps": 6, **guidance_}), tmp_path / "whole")
    plain = tiny(train={"steps": 6})
    regard.train(plain, tmp_path / "plain")
    assert not equal(weights(tmp_path / "whole"), weights(tmp_path / "plain"))
    regard.train(tiny(train={"steps": 6, **guidance_}), tmp_path / "again")
    assert equal(weights(tmp_path / "whole"), weights(tmp_path / "again"))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"model": {"score": "none"}, "train": {"coverage": 1.0}}, "need attention: this model has none"),
        ({"train": {"guide": {"weight": 1.0, "head": 1}}}, r"no head 1 in layer 0: this model has layers 0 to 0"),
        ({"train": {"guide": {"weight": 1.0, "links": "nowhere"}}}, "no file nowhere"),
        (
            {"text": {"kind": "bpe", "vocabulary": 40, "dropout": 0.1}, "train": {"guide": {"weight": 1.0}}},
            "differently in every epoch",
        ),
    ],
)
def test_invalid_guides_are_refused(tmp_path: Path, tables: dict[str, dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        regard.train(tiny(**tables), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_links_in_a_recipe_are_relative_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[data]\nkind = "reverse"\n[model]\n[train]\nsteps = 1\nbatch_sentences = 2\n'
    text += '[train.guide]\nlinks = "my.links"\n'
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    assert load_recipe(tmp_path / "one.toml").train.guide.links == tmp_path / "my.links"
    monkeypatch.chdir(tmp_path)
    changed = load_recipe("reverse", ["train.guide.links=other", "train.guide.weight=0.5"])
    assert changed.train.guide.links == tmp_path / "other"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer"])
def test_a_gpu_gives_the_gradients_of_the_cpu(name: str) -> None:
    """Gradients flow through the weights that fused operations return."""
    torch.manual_seed(0)
    model = Seq2Seq(preset(name, "tiny", dropout=0.0), 10, 10)
    found = []
    for device in ("cpu", "cuda"):
        model.to(device).zero_grad()
        one = batch(weight=0.7, coverage=0.3).to(device)
        assert one.guidance is not None
        looked = model(one, one.target_in, want_weights=True).weights
        assert looked is not None
        attention_loss(looked, one, one.guidance).backward()
        found.append([p.grad.cpu().clone() for p in model.parameters() if p.grad is not None])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(theirs, ours, rtol=1e-2, atol=1e-4)
