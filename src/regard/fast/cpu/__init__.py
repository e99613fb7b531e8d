"""CPU-specific implementations: packed weights, vectorised tanh, top-k by blocks."""
