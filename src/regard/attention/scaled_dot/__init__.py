"""Scaled dot and multi-head attention: Vaswani et al. 2017. `module.ScaledDotAttention`, `MultiHeadAttention`."""
