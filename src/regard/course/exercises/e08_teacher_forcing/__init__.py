"""Exercise 8: teacher forcing and the loss."""
