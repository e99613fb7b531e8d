"""Strings <-> ids: words, normalisation and tokenizers; imports no torch."""
