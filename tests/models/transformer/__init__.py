"""The Transformer against torch's own, its positions, its caches and its weights."""
