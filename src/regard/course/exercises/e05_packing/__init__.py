"""Exercise 5: batching, padding and packing."""
