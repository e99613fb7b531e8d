"""Additive attention: Bahdanau, Cho and Bengio 2014."""
