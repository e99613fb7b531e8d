"""The guide to a mechanism of one's own: its module keeps the laws, every loop passes its memory on, and it trains."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import regard
from regard.cli.main import run
from regard.fast.recurrent import weight_swap
from regard.models import Seq2Seq
from regard.models.model_config import RecurrentConfig

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own-mechanism.md"
CLASS = "location:LocationAttention"
SOURCE = SimpleNamespace(source=torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]]), source_lengths=torch.tensor([4, 2]))
TOKENS = torch.tensor([[1, 4, 5], [1, 6, 7]])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the guide, in a folder on the path."""
    found = re.findall(r"```(?:python|toml)\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    for name, text in zip(("location.py", "laws.py", "location.toml"), found, strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "location", raising=False)
    return tmp_path


def test_the_laws_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec((folder / "laws.py").read_text(encoding="utf-8"), {})
    printed = capsys.readouterr().out
    assert "13 held, 2 skipped" in printed, "there is no trace, and positions matter"


@pytest.mark.parametrize("placement", ["input", "output"])
def test_every_loop_passes_the_memory_on(folder: Path, placement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_swap, "DEFERRED", 0)  # no accelerated loop is left out for the model's size
    torch.manual_seed(0)
    sizes = {"embedding": 6, "encoder_units": 5, "decoder_units": 7, "attention_width": 4}
    config = RecurrentConfig(score=CLASS, placement=placement, **sizes)
    model = Seq2Seq(config, 10, 10, trust=[CLASS]).double().eval()
    fast = model(SOURCE, TOKENS, want_weights=True).weights
    monkeypatch.setenv("REGARD_PLAIN", "1")
    plain = model(SOURCE, TOKENS, want_weights=True).weights
    assert plain is not None
    torch.testing.assert_close(fast, plain)

    def stepped(forget: bool) -> torch.Tensor:
        state, rows = model.start(SOURCE), []
        for tokens in TOKENS.unbind(1):
            step = model.step(tokens, state)
            rows.append(step.weights)
            state = replace(step.state, memory=state.memory) if forget else step.state
        return torch.stack(rows, dim=3)

    torch.testing.assert_close(stepped(forget=False), plain)
    assert not torch.allclose(stepped(forget=True), plain), "the weights of the last step matter"


def test_it_trains_and_decodes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = ["data.train=60", "data.dev=10", "data.test=10", "train.epochs=1", "train.device=cpu"]
    options = [word for change in changes for word in ("--set", change)]
    assert run(["train", str(folder / "location.toml"), "--out", str(folder / "run"), *options]) == 0
    printed = capsys.readouterr().err
    assert "warning" not in printed, "snapshots for the studio need the class, too"
    assert f"translate with: regard translate {folder / 'run'} --trust {CLASS}" in printed
    translator = regard.load(folder / "run", trust=[CLASS])
    texts = ["9 8 7", "1 2 3 4"]
    together = translator.translate(texts, beam=3)
    for text, one in zip(texts, together, strict=True):
        forced = translator.translate(text, target=one.text)
        assert one.attention is not None
        assert forced.attention is not None
        rows = len(one.text.split())
        assert abs(one.attention[:, :, :rows] - forced.attention[:, :, :rows]).max() < 1e-5, "beams keep their memory"
