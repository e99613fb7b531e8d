"""Corpora of sequence pairs: reading, generating, caching, encoding and batching."""
