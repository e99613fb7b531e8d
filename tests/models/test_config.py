"""Impossible configurations raise before anything is built, with the reason and the remedy."""

import re
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from regard.models import ModelConfig, RecurrentConfig, Seq2Seq, TransformerConfig

from .zoo import EVERY, Config, recurrent

IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    (
        {"score": "dot"},
        "score 'dot' needs equal widths, but the query (decoder_units) is 128 wide and the encoder's states, "
        "both directions together, are 256: make them equal, or use 'general'",
    ),
    (
        {"score": "scaled-dot", "bidirectional": False, "encoder_units": 64},
        "score 'scaled-dot' needs equal widths, but the query (decoder_units) is 128 wide and the encoder's "
        "states, both directions together, are 64: make them equal, or use 'multi-head'",
    ),
    ({"score": "addditive"}, "no score 'addditive': did you mean 'additive'? (or your own as package.module:Class)"),
    (
        {"score": "xyz"},
        "no score 'xyz': valid choices are additive, dot, general, concat, scaled-dot, multi-head, none",
    ),
    ({"score": "Multi_Head"}, "did you mean 'multi-head'?"),
    (
        {"score": "none", "window": "local-p"},
        "window 'local-p' needs attention, but score is 'none'",
    ),
    ({"score": "general", "heads": 2}, "heads = 2 needs score 'multi-head'; 'general' has one head"),
    (
        {"score": "multi-head", "heads": 3},
        "3 heads do not divide the attention's width 128: make attention_width a multiple of heads",
    ),
    ({"input_feeding": True}, "which readout 'state-context-embedding' does not compute: set readout = 'attentional'"),
    (
        {"initial": "last"},
        "initial 'last' copies the encoder's state into the decoder, which needs equal widths and layers, but the "
        "encoder's is 1 × 256 and the decoder's 1 × 128: make them equal, or use 'projection'",
    ),
    (
        {"initial": "sum", "encoder_layers": 2},
        "but the encoder's is 2 × 128 and the decoder's 1 × 128: make them equal, or use 'projection'",
    ),
    (
        {"initial": "backward", "bidirectional": False},
        "initial 'backward' is tanh(W ←h_1) and needs bidirectional = true; use 'projection'",
    ),
    (
        {"readout_state": "previous"},
        "readout_state 'previous' is the maxout of Bahdanau et al. 2014, after attention at the input, but readout is "
        "'state-context-embedding' and placement 'input': set readout = 'maxout' and placement = 'input', or leave",
    ),
    (
        {"attention_bias": True, "score": "dot", "decoder_units": 256},
        "attention_bias = true is for score 'additive', not 'dot': leave it out",
    ),
    (
        {"readout": "state-context", "readout_width": 64},
        "readout 'state-context' has no hidden layer: leave readout_width out",
    ),
    (
        {"tie": "target", "readout": "state-context"},
        "tied embeddings need readout 'attentional' or 'maxout', not 'state-context'",
    ),
    (
        {"tie": "all", "readout": "maxout", "embedding": 64},
        "tied embeddings need an output layer as wide as the embedding, but the readout is 128 wide and the embedding "
        "64: set readout_width = 64",
    ),
    (
        {"architecture": "transformer", "width": 10, "heads": 4},
        "width 10 does not divide into 4 heads: make it a multiple of them",
    ),
    (
        {"architecture": "transformer", "width": 9, "heads": 3},
        "sinusoidal positions come in pairs, so width 9 must be even; or use 'learned'",
    ),
]


@pytest.mark.parametrize(("table", "reason"), IMPOSSIBLE, ids=[str(table) for table, _ in IMPOSSIBLE])
def test_impossible_configs_raise_with_the_reason(table: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(reason)):
        TypeAdapter(ModelConfig).validate_python({"architecture": "rnn", **table})


POSSIBLE: list[dict[str, Any]] = [
    {"score": "dot", "encoder_units": 64},
    {"score": "multi-head", "heads": 4},
    {"initial": "sum"},
    {"initial": "last", "encoder_units": 64},
    {"readout": "attentional", "input_feeding": True, "tie": "target"},
    {"readout": "attentional", "input_feeding": True, "placement": "input"},
    {"score": "none", "placement": "output"},
    {"score": "my.package:Attention", "heads": 2},
    {"architecture": "transformer", "width": 9, "heads": 3, "positions": "learned"},
]


@pytest.mark.parametrize("table", POSSIBLE, ids=str)
def test_similar_valid_configs_are_accepted(table: dict[str, Any]) -> None:
    TypeAdapter(ModelConfig).validate_python({"architecture": "rnn", **table})


@pytest.mark.parametrize("config", [RecurrentConfig(), TransformerConfig()])
def test_a_config_is_frozen_and_knows_its_keys(config: Config) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        config.tie = "all"  # type: ignore[misc]
    with pytest.raises(ValidationError, match=r"unitz\s+Extra inputs are not permitted"):
        type(config).model_validate({"unitz": 3})


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_a_config_survives_json(config: Config) -> None:
    assert TypeAdapter(ModelConfig).validate_json(config.model_dump_json()) == config


def test_one_table_for_two_vocabularies_is_refused() -> None:
    config = recurrent(readout="maxout", readout_width=4, tie="all")
    with pytest.raises(
        ValueError, match=r"source has 9 entries and the target 11: set joint = true in \[text\], or tie ="
    ):
        Seq2Seq(config, 9, 11)
