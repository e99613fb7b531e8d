"""Exercise 16: scaled dot-product, multi-head and causal attention."""
