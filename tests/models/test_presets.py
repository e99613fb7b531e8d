"""Presets: their settings and sizes."""

import re

import pytest
from pydantic import ValidationError

from regard.models import PRESETS, RecurrentConfig, Seq2Seq, TransformerConfig, preset


def recurrent(name: str, size: str | None = None) -> RecurrentConfig:
    config = preset(name, size)
    assert isinstance(config, RecurrentConfig)
    return config


def test_the_names_and_sizes() -> None:
    sized = ("tiny", "small", "base")
    assert {name: tuple(sizes) for name, sizes in PRESETS.items()} == {
        "bahdanau": sized,
        "rnnsearch": (None,),
        "rnnsearch-2014": (None,),
        "luong": sized,
        "vanilla": sized,
        "tutorial-lstm": (None,),
        "transformer": sized,
    }


def test_sizes_grow_and_small_is_the_default() -> None:
    for name in ("bahdanau", "luong", "vanilla", "transformer"):
        counts = [Seq2Seq(preset(name, size), 100, 100).parameters_count for size in ("tiny", "small", "base")]
        assert counts == sorted(counts)
        assert preset(name) == preset(name, "small")


def test_rnnsearch_has_the_paper_s_sizes() -> None:
    """Bahdanau et al. 2014, appendix A.2.3."""
    config = recurrent("rnnsearch")
    assert (config.encoder_units, config.decoder_units, config.embedding) == (1000, 1000, 620)
    assert (config.attention_width, config.readout, config.readout_width) == (1000, "maxout", 500)
    assert (config.cell, config.bidirectional, config.score, config.placement) == ("gru", True, "additive", "input")
    assert (config.initial, config.encoder_layers, config.decoder_layers) == ("backward", 1, 1)
    units, width, maxout, words = 1000, 620, 500, 100
    gru = 3 * units * units + 2 * 3 * units
    counted = (
        2 * words * width  # embeddings
        + 2 * (3 * units * width + gru)  # encoder
        + 3 * units * (width + 2 * units) + gru  # decoder, its input [e; c]
        + units * units + units * 2 * units + units  # W_s, W_h, v
        + units * units + units  # s_0
        + 2 * maxout * (units + 2 * units + width) + 2 * maxout  # U, C, V
        + words * maxout + words  # output
    )  # fmt: skip
    assert Seq2Seq(config, words, words).parameters_count == counted


def test_bahdanau_attends_before_the_recurrent_step_and_luong_after() -> None:
    ours, theirs = recurrent("bahdanau"), recurrent("luong")
    assert (ours.score, ours.placement, ours.input_feeding, ours.cell) == ("additive", "input", False, "gru")
    assert (theirs.score, theirs.placement, theirs.input_feeding, theirs.cell) == ("general", "output", True, "lstm")
    assert (theirs.readout, theirs.initial, theirs.bidirectional) == ("attentional", "last", False)


def test_vanilla_is_bahdanau_without_attention() -> None:
    ours, theirs = recurrent("vanilla"), recurrent("bahdanau")
    assert ours.score == "none"
    assert ours.model_copy(update={"score": "additive", "initial": "backward"}) == theirs


def test_tutorial_lstm_is_the_tutorial_s() -> None:
    """Two LSTMs of 128 units over 64-dimensional embeddings, zero state, [s; c], dropout 0.4 at the output."""
    config = recurrent("tutorial-lstm")
    assert (config.cell, config.encoder_units, config.decoder_units, config.embedding) == ("lstm", 128, 128, 64)
    assert (config.attention_width, config.bidirectional, config.placement) == (64, True, "input")
    assert (config.initial, config.readout, config.dropout) == ("zero", "state-context", 0.4)


def test_transformer_base_is_the_paper_s() -> None:
    config = preset("transformer", "base")
    assert isinstance(config, TransformerConfig)
    assert (config.width, config.heads, config.feedforward) == (512, 8, 2048)
    assert (config.encoder_layers, config.decoder_layers) == (6, 6)


def test_any_key_may_change() -> None:
    config = preset("luong", "tiny", score="dot", decoder_layers=2, encoder_layers=2)
    assert isinstance(config, RecurrentConfig)
    assert (config.score, config.decoder_layers, config.placement) == ("dot", 2, "output")


@pytest.mark.parametrize(
    ("name", "size", "reason"),
    [
        ("bahdnau", None, "no preset 'bahdnau': did you mean 'bahdanau'?"),
        ("xyz", None, "no preset 'xyz': valid choices are bahdanau"),
        ("luong", "huge", "preset 'luong' has no size 'huge': valid choices are tiny, small, base"),
        (
            "rnnsearch",
            "tiny",
            "preset 'rnnsearch' has no size 'tiny': its size is part of it, change single keys instead",
        ),
    ],
)
def test_unknown_names_are_refused(name: str, size: str | None, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        preset(name, size)


def test_an_impossible_change_is_refused() -> None:
    with pytest.raises(ValidationError, match="needs bidirectional = true"):
        preset("bahdanau", "tiny", bidirectional=False)
