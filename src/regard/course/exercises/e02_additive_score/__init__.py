"""Exercise 2: Bahdanau's additive score."""
