"""On a GPU: the same results, the same laws, and mixed precision with fused recurrences."""

import gc
import warnings

import pytest
import torch

from regard.models import Seq2Seq
from regard.models.presets import preset

from .zoo import MECHANISMS, OWN, SOURCE, TOKENS, Config, Sentences, build, sentences

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
every = pytest.mark.parametrize("config", MECHANISMS.values(), ids=MECHANISMS.keys())
EXACT = {"atol": 1e-9, "rtol": 1e-9}


def on_gpu(source: Sentences) -> Sentences:
    return Sentences(source.source.cuda(), source.source_lengths.cuda())


@every
def test_gpu_and_cpu_agree(config: Config) -> None:
    model, source = build(config), sentences(*SOURCE, [])
    tokens = torch.cat([TOKENS, TOKENS[:1]])
    wanted = model(source, tokens, want_weights=True)
    model.logits(wanted.features).square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    other = build(config).cuda()
    with torch.backends.cudnn.flags(enabled=False):  # whose recurrences have no gradients outside of training
        found = other(on_gpu(source), tokens.cuda(), want_weights=True)
        other.logits(found.features).square().sum().backward()
    torch.testing.assert_close(found.features.cpu(), wanted.features, **EXACT)
    if wanted.weights is not None:
        torch.testing.assert_close(found.weights.cpu(), wanted.weights, **EXACT)
    for parameter, gradient in zip(other.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad.cpu(), gradient, **EXACT)


@every
def test_steps_are_the_sequence(config: Config) -> None:
    model, source, tokens = build(config).cuda(), on_gpu(sentences(*SOURCE)), TOKENS.cuda()
    wanted, state, logits = model.logits(model(source, tokens).features), model.start(source), []
    for words in tokens.unbind(1):
        step = model.step(words, state)
        state = step.state.select(torch.arange(3, device="cuda"))
        logits.append(step.logits)
    torch.testing.assert_close(torch.stack(logits, dim=1), wanted, **EXACT)


@every
def test_bf16_trains(config: Config) -> None:
    torch.manual_seed(0)
    model = Seq2Seq(config, 11, 11, trust=[OWN]).cuda()
    source, tokens = on_gpu(sentences(*SOURCE)), TOKENS.cuda()
    exact = model.logits(model(source, tokens).features)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model.logits(model(source, tokens).features)
    torch.testing.assert_close(logits.float(), exact, atol=0.1, rtol=0.05)
    logits.float().square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


@every
def test_single_precision_agrees_plain_captured_and_replayed(config: Config) -> None:
    """The fused recurrences, which do not run in float64: the first, second and third call of a shape."""
    model, tokens = build(config), torch.cat([TOKENS, TOKENS[:1]])
    source = sentences(*SOURCE, [])
    wanted = model(source, tokens, want_weights=True)
    model.logits(wanted.features).square().sum().backward()
    other = build(config).float().cuda().train()
    if any(isinstance(part, torch.nn.Dropout) and part.p for part in other.modules()):
        pytest.skip("dropout draws other numbers on another device")
    for _ in range(3):
        other.zero_grad()
        with torch.backends.cudnn.flags(allow_tf32=False):  # its recurrences round products to ten bits otherwise
            found = other(on_gpu(source), tokens.cuda(), want_weights=True)
            other.logits(found.features).square().sum().backward()
        torch.testing.assert_close(found.features.cpu().double(), wanted.features, atol=1e-4, rtol=1e-4)
        for parameter, plain in zip(other.parameters(), model.parameters(), strict=True):
            scale = plain.grad.abs().max().item()
            torch.testing.assert_close(parameter.grad.cpu().double(), plain.grad, atol=1e-4 * scale + 1e-6, rtol=1e-3)


@pytest.mark.parametrize("name", ["luong", "transformer"])
def test_graphs_of_models_that_are_gone_do_not_break_a_capture(name: str) -> None:
    """Garbage that holds a CUDA graph, with garbage collection at every allocation."""

    def learnt(rounds: int) -> Seq2Seq:
        model = Seq2Seq(preset(name, "tiny"), 11, 11).cuda()
        for _ in range(rounds):
            model(on_gpu(sentences(*SOURCE)), TOKENS.cuda()).features.sum().backward()
        return model

    before = gc.get_threshold()
    gc.disable()
    try:
        gone = learnt(3)
        gone.itself = [gone]  # only the collector can free it
        del gone
        gc.enable()
        gc.set_threshold(1, 1, 1)
        kept = learnt(3)
    finally:
        gc.set_threshold(*before)
        gc.enable()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in kept.parameters())
    assert gc.isenabled()


@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer"])
def test_a_replayed_step_does_not_synchronise_the_host(name: str) -> None:
    model, source, tokens = Seq2Seq(preset(name, "tiny"), 11, 11).cuda(), on_gpu(sentences(*SOURCE)), TOKENS.cuda()
    for _ in range(3):
        model(source, tokens).features.sum().backward()
    try:
        with warnings.catch_warnings():  # torch warns that its check does not find every sync
            warnings.simplefilter("ignore")
            torch.cuda.set_sync_debug_mode("error")
        model(source, tokens).features.sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
