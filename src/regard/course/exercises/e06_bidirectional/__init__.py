"""Exercise 6: an encoder that reads both ways."""
