"""Exercise 18: how often the decoder is given the right word while it learns."""
