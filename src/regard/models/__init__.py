"""Encoder-decoders: recurrent with any attention, and the Transformer; built from a config or a preset's name."""

from regard.models.model_config import ModelConfig, RecurrentConfig, TransformerConfig
from regard.models.presets import PRESETS, preset
from regard.models.seq2seq import Seq2Seq
from regard.models.step import Decoded, Step

__all__ = ["PRESETS", "Decoded", "ModelConfig", "RecurrentConfig", "Seq2Seq", "Step", "TransformerConfig", "preset"]
