"""Scaled dot-product and multi-head attention: Vaswani et al. 2017."""
