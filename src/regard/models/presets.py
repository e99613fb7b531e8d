"""Presets: published architectures by name; the keys of [model] override them."""

from typing import Any

from pydantic import TypeAdapter

from regard.bounds import excerpt
from regard.models.model_config import ModelConfig, RecurrentConfig, TransformerConfig
from regard.suggest import suggest

_MODEL: TypeAdapter[RecurrentConfig | TransformerConfig] = TypeAdapter(ModelConfig)

BAHDANAU: dict[str, Any] = {"score": "additive", "placement": "input", "initial": "backward"}
LUONG: dict[str, Any] = {
    "cell": "lstm",
    "bidirectional": False,
    "score": "general",
    "placement": "output",
    "input_feeding": True,
    "readout": "attentional",
    "initial": "last",
}
VANILLA: dict[str, Any] = {"score": "none", "placement": "input", "initial": "projection"}
TRANSFORMER: dict[str, Any] = {"architecture": "transformer"}


def _recurrent(units: int, embedding: int, layers: int = 1, dropout: float = 0.0) -> dict[str, Any]:
    return {
        "embedding": embedding,
        "encoder_units": units,
        "decoder_units": units,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "dropout": dropout,
    }


_RECURRENT_SIZES = {
    "tiny": _recurrent(96, 64),
    "small": _recurrent(256, 128, dropout=0.2),
    "base": _recurrent(512, 256, dropout=0.3),
}
_TRANSFORMER_SIZES = {
    "tiny": {"width": 96, "heads": 4, "encoder_layers": 2, "decoder_layers": 2, "feedforward": 256},
    "small": {"width": 256, "heads": 4, "encoder_layers": 3, "decoder_layers": 3, "feedforward": 1024},
    "base": {"width": 512, "heads": 8, "encoder_layers": 6, "decoder_layers": 6, "feedforward": 2048},
}

# Bahdanau et al. 2014, appendix A.2.3: 1000 units, 620-dimensional embeddings, maxout of 500, alignment width 1000.
# Deviations: torch's GRU (U s inside r ∘ (·), a second bias), and the maxout reads s_t where the appendix writes
# s_{t-1}. rnnsearch-2014 has neither, and is slower: no accelerated version computes its cell.
_RNNSEARCH = {
    **BAHDANAU,
    **_recurrent(1000, 620),
    "attention_width": 1000,
    "readout": "maxout",
    "readout_width": 500,
}
_RNNSEARCH_2014 = {**_RNNSEARCH, "cell": "gru-2014", "readout_state": "previous"}
# The LSTM of the tutorial run: 64-dimensional embeddings, 128 units, attention 64 wide, dropout at the output.
# Deviation: the tutorial's scoring layers have biases. Those of W_s and W_h are one b inside the tanh, which
# attention_bias = true adds; that of v shifts all scores of a step alike, and softmax does not see it.
_TUTORIAL = {
    **_recurrent(128, 64, dropout=0.4),
    "cell": "lstm",
    "score": "additive",
    "attention_width": 64,
    "placement": "input",
    "initial": "zero",
    "readout": "state-context",
}

PRESETS: dict[str, dict[str | None, dict[str, Any]]] = {
    "bahdanau": {name: {**BAHDANAU, **size} for name, size in _RECURRENT_SIZES.items()},
    "rnnsearch": {None: _RNNSEARCH},
    "rnnsearch-2014": {None: _RNNSEARCH_2014},
    "luong": {name: {**LUONG, **size} for name, size in _RECURRENT_SIZES.items()},
    "vanilla": {name: {**VANILLA, **size} for name, size in _RECURRENT_SIZES.items()},
    "tutorial-lstm": {None: _TUTORIAL},
    "transformer": {name: {**TRANSFORMER, **size} for name, size in _TRANSFORMER_SIZES.items()},
}


def preset(name: str, size: str | None = None, **changes: Any) -> RecurrentConfig | TransformerConfig:
    """The configuration of a preset, with changes.

    >>> preset("luong", "tiny", score="dot").placement
    'output'
    """
    if name not in PRESETS:
        raise ValueError(f"no preset {excerpt(name)}: {suggest(name, PRESETS)}")
    sizes = PRESETS[name]
    key = size if size is not None or None in sizes else "small"
    if key not in sizes:
        valid = ", ".join(one for one in sizes if one is not None)
        why = f"valid choices are {valid}" if valid else "its size is part of it, change single keys instead"
        raise ValueError(f"preset '{name}' has no size {excerpt(size)}: {why}")
    return _MODEL.validate_python({"architecture": "rnn", **sizes[key], **changes})
