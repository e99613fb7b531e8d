"""Describes a bundle in a few lines."""

from collections.abc import Mapping
from typing import Any

from regard.bounds import cut
from regard.bundle.onnx_manifest import OnnxManifest
from regard.bundle.store import Bundle
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.text.tokenizer import Tokenizer
from regard.training.journal import cut_short

_LONGEST = 1000
"""Largest number of characters of a value: a bundle of another person may hold any text."""


def describe(bundle: Bundle) -> list[tuple[str, str]]:
    """The lines of `regard info`: names and values."""
    manifest = bundle.manifest
    size = sum(entry.bytes for entry in manifest.files.values())
    data = manifest.recipe.get("data")
    data = data if isinstance(data, Mapping) else {}
    graphs = ""
    if isinstance(manifest, OnnxManifest):
        graphs = f"ONNX, opset {manifest.onnx.opset}, {'int8' if manifest.onnx.int8 else 'float32'}"
    lines = [
        ("bundle", f"{bundle.path} ({size / 1e6:.1f} MB, format version {manifest.version})"),
        ("about", str(manifest.recipe.get("description") or "")),
        ("model", describe_model(manifest.model)),
        ("graphs", graphs),
        ("parameters", f"{bundle.model.parameters_count:,}"),
        ("source", _describe_tokenizer(bundle.source)),
        ("target", _describe_tokenizer(bundle.target)),
        ("reads", f"up to {manifest.longest_source:,} pieces{', then EOS' if manifest.source_eos else ''}"),
        ("trained", ", ".join(_pairs(manifest.trained))),
        ("training", cut_short(bundle.path.parent)),
        ("data", ", ".join([*([str(data["kind"])] if "kind" in data else []), *_pairs(data)])),
        ("made with", f"regard {manifest.regard}, torch {manifest.torch}"),
    ]
    return [(name, cut(value.replace("\n", " "), _LONGEST)) for name, value in lines if value]


def describe_model(config: RecurrentConfig | TransformerConfig) -> str:
    """The architecture in one line.

    >>> describe_model(RecurrentConfig())
    'GRU, 1 × 128 bidirectional encoder, 1 × 128 decoder, additive attention, context at the input'
    """
    if isinstance(config, TransformerConfig):
        return (
            f"Transformer, {config.encoder_layers} + {config.decoder_layers} layers, width {config.width}, "
            f"{config.heads} heads, {config.positions} positions"
        )
    direction = "bidirectional" if config.bidirectional else "unidirectional"
    attention = "no attention: one fixed vector" if config.score == "none" else f"{config.score} attention"
    if config.window != "global":
        attention += f", {config.window} window ± {config.reach}"
    feeding = ", input feeding" if config.input_feeding else ""
    return (
        f"{config.cell.upper()}, {config.encoder_layers} × {config.encoder_units} {direction} encoder, "
        f"{config.decoder_layers} × {config.decoder_units} decoder, {attention}, "
        f"context at the {config.placement}{feeding}"
    )


def _describe_tokenizer(tokenizer: Tokenizer) -> str:
    chosen = tokenizer.config.normalise
    choices = [
        (chosen.lowercase, "lower case"),
        (chosen.drop_final_stop, "no final stop"),
        (chosen.complete, "completed to sentences"),
        (tokenizer.config.words == "spaces", "split at spaces"),
    ]
    names = [
        f"{tokenizer.config.kind} pieces",
        f"vocabulary {len(tokenizer):,}",
        *(name for yes, name in choices if yes),
    ]
    return ", ".join(names)


def _pairs(values: Mapping[str, Any]) -> list[str]:
    """The keys and values of a table without unset ones and `kind`."""
    return [
        f"{name.replace('_', ' ')} {value:.4g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in values.items()
        if value is not None and value != [] and name != "kind"
    ]
