"""bf16 autocast, as training uses it: every model runs, learns and stays finite."""

import pytest
import torch

from regard.fast.recurrent import weight_swap
from regard.models import Seq2Seq

from .zoo import EVERY, SOURCE, TOKENS, Config, build, recurrent, sentences

MODELS: dict[str, Config] = {
    **{name: config for name, config in EVERY.items() if name.startswith(("preset", "tied", "transformer"))},
    "zero state": recurrent(initial="zero"),
    "zero state, two layers": recurrent(initial="zero", cell="lstm", decoder_layers=2),
    "local-p": recurrent(window="local-p", placement="output"),
    "multi-head": recurrent(score="multi-head", cell="lstm"),
}


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS.keys())
def test_autocast_trains_in_bf16_and_keeps_float32_weights(config: Config) -> None:
    torch.manual_seed(0)
    model = Seq2Seq(config, 11, 11)
    exact = model.logits(model(sentences(*SOURCE), TOKENS).features)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        decoded = model(sentences(*SOURCE, []), torch.cat([TOKENS, TOKENS[:1]]))
        logits = model.logits(decoded.features)
    assert logits.dtype == torch.bfloat16
    torch.testing.assert_close(logits[:3].float(), exact, atol=0.1, rtol=0.05)
    logits.float().square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.dtype == torch.float32, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS.keys())
def test_a_whole_model_in_bf16_decodes(config: Config) -> None:
    torch.manual_seed(0)
    model = Seq2Seq(config, 11, 11).bfloat16().eval()
    state = model.start(sentences(*SOURCE))
    for words in TOKENS.unbind(1):
        step = model.step(words, state)
        state = step.state
        assert step.logits.dtype == torch.bfloat16
        assert step.logits.isfinite().all()


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS.keys())
def test_autocast_leaves_double_precision_alone(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does in torch's own products."""
    model, found = build(config).train(), []
    monkeypatch.setattr(weight_swap, "DEFERRED", 0)
    for plain in ("0", "1"):
        monkeypatch.setenv("REGARD_PLAIN", plain)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            features = model(sentences(*SOURCE), TOKENS).features
        assert features.dtype == torch.float64
        found.append([features, *torch.autograd.grad(features.sum(), list(model.encoder.parameters()))])
    torch.testing.assert_close(*found)
