"""Transformer encoder and decoder, pre-norm, over the package's own multi-head attention."""
