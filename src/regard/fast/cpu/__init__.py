"""What is faster on a CPU: packed weights, vectorised tanh, top-k by blocks."""
