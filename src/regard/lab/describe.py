"""A bundle in a few lines a person can read."""

from regard.bundle.store import Bundle
from regard.models.config import RecurrentConfig, TransformerConfig


def describe(bundle: Bundle) -> list[tuple[str, str]]:
    """Name and value of everything worth knowing about a bundle."""
    manifest = bundle.manifest
    size = sum(entry.bytes for entry in manifest.files.values())
    lines = [
        ("bundle", f"{bundle.path} ({size / 1e6:.1f} MB, format version {manifest.version})"),
        ("model", describe_model(manifest.model)),
        ("parameters", f"{bundle.model.parameters_count:,}"),
        ("source", f"{bundle.source.config.kind} tokens, vocabulary {len(bundle.source):,}"),
        ("target", f"{bundle.target.config.kind} tokens, vocabulary {len(bundle.target):,}"),
        ("reads", f"up to {manifest.longest_source} pieces{', then EOS' if manifest.source_eos else ''}"),
        ("made with", f"regard {manifest.regard}, torch {manifest.torch}"),
    ]
    if manifest.trained:
        lines.append(("trained", ", ".join(f"{name} {_short(value)}" for name, value in manifest.trained.items())))
    data = manifest.recipe.get("data")
    if data:
        lines.append(("data", ", ".join(f"{name} {value}" for name, value in data.items() if value is not None)))
    return lines


def describe_model(config: RecurrentConfig | TransformerConfig) -> str:
    """One line: what a practitioner would say of the architecture.

    >>> describe_model(RecurrentConfig())
    'GRU, 1 × 128 bidirectional encoder, 1 × 128 decoder, additive attention, global, context at the input'
    """
    if isinstance(config, TransformerConfig):
        return (
            f"Transformer, {config.encoder_layers} + {config.decoder_layers} layers, width {config.width}, "
            f"{config.heads} heads, {config.positions} positions"
        )
    direction = "bidirectional" if config.bidirectional else "unidirectional"
    attention = "no attention" if config.score == "none" else f"{config.score} attention, {config.window}"
    feeding = ", input feeding" if config.input_feeding else ""
    return (
        f"{config.cell.upper()}, {config.encoder_layers} × {config.encoder_units} {direction} encoder, "
        f"{config.decoder_layers} × {config.decoder_units} decoder, {attention}, context at the {config.placement}{feeding}"
    )


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
