"""Strings <-> ids: words, normalisation and tokenizers; knows nothing of tensors."""

from regard.text.config import TokenizerConfig
from regard.text.encoding import Decoded, Encoding
from regard.text.errors import InputError
from regard.text.normalise import Normaliser
from regard.text.special import BOS, EOS, PAD, SPECIAL, UNK, UNKNOWN
from regard.text.tokenizer import Tokenizer
from regard.text.words import Word, join_words, split_words

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIAL",
    "UNK",
    "UNKNOWN",
    "Decoded",
    "Encoding",
    "InputError",
    "Normaliser",
    "Tokenizer",
    "TokenizerConfig",
    "Word",
    "join_words",
    "split_words",
]
