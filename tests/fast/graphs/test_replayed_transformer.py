"""A Transformer replayed from CUDA graphs trains like plain operations, dropout included."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from models.zoo import SOURCE, TOKENS, Sentences, sentences
from regard.fast.graphs.captured_module import _dropping
from regard.models import Seq2Seq, TransformerConfig
from regard.models.transformer.layers import FeedForward
from regard.registry import operation_of

SHAPES: dict[str, dict[str, object]] = {
    "tiny": {},
    "tied": {"tie": "all"},
    "learned positions": {"positions": "learned", "longest": 20},
    "dropping": {"dropout": 0.4, "tie": "target"},
    "dropping inside": {"dropout": 0.2, "inner_dropout": 0.5},
}
every = pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES.keys())
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
Found = dict[str, Tensor]


def build(changes: dict[str, object]) -> Seq2Seq:
    torch.manual_seed(0)
    sizes = {"width": 16, "heads": 2, "encoder_layers": 2, "decoder_layers": 2, "feedforward": 24, "dropout": 0.0}
    return Seq2Seq(TransformerConfig(**{**sizes, **changes}), 11, 11).train()


def learn(model: Seq2Seq, source: Sentences, tokens: Tensor, seed: int = 1) -> Found:
    """Features and every gradient."""
    torch.manual_seed(seed)
    features = model(source, tokens).features
    (features.float() ** 3 + features.float()).sum().backward()
    return {"features": features.detach(), **gradients(model)}


def gradients(model: Seq2Seq) -> Found:
    found = {name: x.grad for name, x in model.named_parameters() if x.grad is not None}
    model.zero_grad(set_to_none=True)
    return found


def agree(found: Found, wanted: Found, tolerance: float) -> None:
    assert found.keys() == wanted.keys()
    for name, x in wanted.items():
        close = float(x.float().abs().max()) * tolerance
        torch.testing.assert_close(found[name].float(), x.float(), atol=close, rtol=tolerance)


def always_captured(patch: pytest.MonkeyPatch) -> None:
    """The entry applies on every device; on the CPU its function runs plainly."""
    (entry,) = operation_of(Seq2Seq.forward).entries
    patch.setattr(operation_of(Seq2Seq.forward), "entries", (replace(entry, unless=lambda *_, **__: None),))


@every
def test_the_function_equals_the_model(changes: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    model, source = build(changes), sentences(*SOURCE)
    wanted = learn(model, source, TOKENS)
    always_captured(monkeypatch)
    agree(learn(model, source, TOKENS), wanted, 1e-6)


class Prompted(FeedForward):
    """A custom layer with a parameter whose name ends like that of the word embeddings."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.prompt_embedding = nn.Embedding(1, config.width)

    def forward(self, states: Tensor) -> Tensor:
        return super().forward(states + self.prompt_embedding.weight)


def test_every_parameter_gets_its_gradient_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    model, source = build({}), sentences(*SOURCE)
    for side in (model.encoder, model.decoder):
        side.layers[1].feedforward = Prompted(model.config)
    wanted = learn(model, source, TOKENS)
    assert "decoder.layers.1.feedforward.prompt_embedding.weight" in wanted
    always_captured(monkeypatch)
    agree(learn(model, source, TOKENS), wanted, 1e-6)


def test_evaluation_does_not_replay_graphs_of_training() -> None:
    model = build({"dropout": 0.4, "inner_dropout": 0.1})
    training = _dropping(model)
    assert {0.4, 0.1} <= set(training)
    assert set(_dropping(model.eval())) == {0.0}
    model.train().decoder.eval()
    assert _dropping(model) not in (training, (0.0,) * len(training))


def on_gpu(source: Sentences) -> Sentences:
    return Sentences(source.source.cuda(), source.source_lengths.cuda())


@pytest.mark.gpu
@gpu
@every
@pytest.mark.parametrize("half", [False, True], ids=["float32", "bf16"])
def test_replays_equal_plain_operations(
    changes: dict[str, object], half: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, source, tokens = (
        build({**changes, "dropout": 0.0, "inner_dropout": 0.0}).cuda(),
        on_gpu(sentences(*SOURCE)),
        TOKENS.cuda(),
    )
    tolerance = 5e-2 if half else 1e-4

    def learnt(plain: bool) -> Found:
        monkeypatch.setenv("REGARD_PLAIN", "1" if plain else "0")
        with torch.autocast("cuda", torch.bfloat16, enabled=half):  # it keeps copies of weights until it ends
            return learn(model, source, tokens)

    wanted = learnt(plain=True)
    for _ in range(4):  # plain, captured, replayed, replayed
        agree(learnt(plain=False), wanted, tolerance)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.1)
    agree(learnt(plain=False), learnt(plain=True), tolerance)


@pytest.mark.gpu
@gpu
def test_replays_draw_new_dropout_and_calls_may_interleave() -> None:
    model, source, tokens = build({"dropout": 0.4}).cuda(), on_gpu(sentences(*SOURCE)), TOKENS.cuda()
    for seed in range(3):
        learn(model, source, tokens, seed)
    first, second = learn(model, source, tokens, 5), learn(model, source, tokens, 6)
    assert not torch.equal(first["features"], second["features"])
    agree(learn(model, source, tokens, 5), first, 1e-5)
    torch.manual_seed(5)
    one = model(source, tokens).features
    torch.manual_seed(6)
    other = model(source, tokens).features
    after = torch.cuda.get_rng_state()
    (one**3 + one).sum().backward()
    agree({"features": one.detach(), **gradients(model)}, first, 1e-5)
    (other**3 + other).sum().backward()
    agree({"features": other.detach(), **gradients(model)}, second, 1e-5)
    assert torch.equal(torch.cuda.get_rng_state(), after)


@pytest.mark.gpu
@gpu
def test_an_evaluation_with_gradients_drops_nothing() -> None:
    model, source, tokens = build({"dropout": 0.4}).cuda(), on_gpu(sentences(*SOURCE)), TOKENS.cuda()
    for seed in range(3):
        learn(model, source, tokens, seed)
    model.eval()
    agree(learn(model, source, tokens, 1), learn(model, source, tokens, 2), 1e-5)


@pytest.mark.gpu
@gpu
def test_random_numbers_are_those_of_plain_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed run sees each shape for the first time again, and must draw the same dropout."""
    model, source, tokens = build({"dropout": 0.4}).cuda(), on_gpu(sentences(*SOURCE)), TOKENS.cuda()
    for seed in range(3):
        learn(model, source, tokens, seed)
    found = learn(model, source, tokens, 5)
    monkeypatch.setenv("REGARD_PLAIN", "1")
    agree(found, learn(model, source, tokens, 5), 1e-4)


@pytest.mark.gpu
@gpu
def test_shapes_that_share_memory_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build({}).cuda()
    several = [on_gpu(sentences(*SOURCE[:rows], width=width)) for rows, width in ((3, 5), (3, 8), (2, 6), (1, 7))]
    given = [(source, TOKENS[: len(source.source)].cuda()) for source in several]
    monkeypatch.setenv("REGARD_PLAIN", "1")
    wanted = [learn(model, *one) for one in given]
    monkeypatch.setenv("REGARD_PLAIN", "0")
    for _ in range(3):
        for one, other in zip(given, wanted, strict=True):
            agree(learn(model, *one), other, 1e-4)
    features = [model(*one).features for one in given]  # all forward, then all backward
    for found, other in zip(features, wanted, strict=True):
        (found**3 + found).sum().backward()
        agree({"features": found.detach(), **gradients(model)}, other, 1e-4)


@pytest.mark.gpu
@gpu
def test_many_shapes_take_little_more_memory_than_the_largest() -> None:
    model = build({"width": 64, "feedforward": 256}).cuda()
    used = []
    for width in range(40, 52):
        source = on_gpu(sentences(*[[5] * 40] * 64, width=width))
        for _ in range(3):
            learn(model, source, torch.full((64, 40), 5).cuda())
        torch.cuda.empty_cache()
        used.append(torch.cuda.memory_reserved())
    first = used[0]
    assert used[-1] < 4 * first
