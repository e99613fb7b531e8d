"""Exercise 9: a training loop; copy and reverse learned from nothing."""
