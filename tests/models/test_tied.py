"""Tied embeddings: one table in two or three places, through training steps and moves."""

import copy

import pytest
import torch

from .zoo import EVERY, SOURCE, TOKENS, Config, build, recurrent, sentences

tied = {name: config for name, config in EVERY.items() if "tied" in name}
every = pytest.mark.parametrize("config", tied.values(), ids=tied.keys())


def tables(model: torch.nn.Module) -> list[int]:
    """Which of source embedding, target embedding and output are one tensor."""
    encoder, decoder = model.encoder, model.decoder
    source, target = (getattr(one, "positions", one).embedding.weight for one in (encoder, decoder))
    return [id(source), id(target), id(decoder.readout.output.weight)]


@every
def test_tied_weights_are_one_tensor_and_stay_one(config: Config) -> None:
    model = build(config)
    for one in (model, copy.deepcopy(model), model.float(), model.to("cpu")):
        source, target, output = tables(one)
        assert target == output
        assert (source == target) is (config.tie == "all")


@every
def test_a_training_step_moves_it_everywhere(config: Config) -> None:
    model = build(config)
    before = model.decoder.readout.output.weight.clone()
    optimizer = torch.optim.Adam(model.parameters())
    model.logits(model(sentences(*SOURCE), TOKENS).features).square().sum().backward()
    optimizer.step()
    assert len(set(tables(model))) == (1 if config.tie == "all" else 2)
    assert not torch.equal(model.decoder.readout.output.weight, before)


def test_tying_saves_the_tables_it_shares() -> None:
    choices = {"readout": "maxout", "readout_width": 4}
    none, target, everything = (
        build(recurrent(tie=tie, **choices)).parameters_count for tie in ("none", "target", "all")
    )
    assert none - target == 11 * 4
    assert target - everything == 11 * 4


def test_untied_embeddings_of_padding_stay_zero() -> None:
    model = build(recurrent())
    model.logits(model(sentences(*SOURCE), TOKENS).features).square().sum().backward()
    for embedding in (model.encoder.embedding, model.decoder.embedding):
        assert not embedding.weight[0].any()
        assert not embedding.weight.grad[0].any()
