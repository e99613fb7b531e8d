"""Dropout: where the configuration sets it, in training only."""

import pytest
import torch

from regard.models import preset

from .zoo import PRESETS, SOURCE, TOKENS, Config, build, recurrent, sentences, transformer

STILL = {"dropout": 0.0, "embedding_dropout": 0.0, "state_dropout": 0.0, "inner_dropout": 0.0}
MODELS: dict[str, Config] = {
    "between and after the layers": recurrent(dropout=0.5, encoder_layers=2, decoder_layers=2),
    "the library's call": recurrent(dropout=0.5, decoder_layers=2, placement="output"),
    "embeddings": recurrent(embedding_dropout=0.5),
    "states": recurrent(state_dropout=0.5),
    "transformer": transformer(dropout=0.5),
    "inside the transformer": transformer(inner_dropout=0.5),
}
every = pytest.mark.parametrize("config", MODELS.values(), ids=MODELS.keys())


def logits(config: Config, *, training: bool) -> tuple[torch.Tensor, torch.Tensor]:
    model = build(config).train(training)
    torch.manual_seed(0)
    one, other = (model.logits(model(sentences(*SOURCE), TOKENS).features) for _ in range(2))
    return one, other


@every
def test_two_training_passes_differ_and_two_evaluations_do_not(config: Config) -> None:
    one, other = logits(config, training=True)
    assert not torch.allclose(one, other)
    one, other = logits(config, training=False)
    assert torch.equal(one, other)


@every
def test_evaluation_is_the_model_without_dropout(config: Config) -> None:
    still = config.model_copy(update={key: value for key, value in STILL.items() if hasattr(config, key)})
    torch.testing.assert_close(logits(config, training=False)[0], logits(still, training=True)[0])


@pytest.mark.parametrize("placement", ["input", "output"])
def test_layers_are_dropped_between_and_not_after(placement: str) -> None:
    """The step loop and the library's call alike: the second layer's first state varies, the first layer's does not."""
    model = build(recurrent(dropout=0.5, decoder_layers=2, placement=placement, readout="state-context")).train()
    torch.manual_seed(0)
    state = model.start(sentences(*SOURCE))
    steps = [model.step(TOKENS[:, 0], state).state.hidden for _ in range(2)]
    assert torch.equal(steps[0][0], steps[1][0])
    assert not torch.allclose(steps[0][1], steps[1][1])
    one, other = (model.decoder(TOKENS, state).features for _ in range(2))
    assert not torch.allclose(one, other)
    assert one.all()


def test_one_layer_has_nothing_in_between() -> None:
    """The output's dropout acts after the features, so these do not vary."""
    model = build(recurrent(dropout=0.5)).train()
    one, other = (model(sentences(*SOURCE), TOKENS).features for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(model.logits(one), model.logits(one))


def test_states_are_dropped_for_attention_alone() -> None:
    """The decoder's first state is computed without dropout."""
    encoder = build(recurrent(state_dropout=0.5)).train().encoder
    torch.manual_seed(0)
    batch = sentences(*SOURCE)
    one, other = (encoder(batch.source, batch.source_lengths) for _ in range(2))
    assert torch.equal(one.hidden, other.hidden)
    dropped = one.states == 0
    assert dropped[one.real].any()
    assert not dropped[one.real].all()


def test_a_transformers_inner_dropout_defaults_to_dropout() -> None:
    assert (transformer(dropout=0.3).dropout_inside, transformer(dropout=0.3, inner_dropout=0.0).dropout_inside) == (
        0.3,
        0,
    )
    outside = build(transformer(dropout=0.5, inner_dropout=0.0)).train().decoder.layers[0]
    assert (outside.dropout.p, outside.feedforward.dropout.p, outside.self_attention.dropout) == (0.5, 0.0, 0.0)


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())
def test_presets_in_evaluation_give_the_same_bits(config: Config) -> None:
    one, other = logits(config, training=False)
    assert torch.equal(one, other)


def test_the_sizes_that_overfit_have_dropout() -> None:
    assert [preset("bahdanau", size).dropout for size in ("tiny", "small", "base")] == [0.0, 0.2, 0.3]
    assert preset("tutorial-lstm").dropout == 0.4
