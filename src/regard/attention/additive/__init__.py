"""Additive attention: Bahdanau, Cho and Bengio 2014. `module.BahdanauAttention` is what a model uses."""
