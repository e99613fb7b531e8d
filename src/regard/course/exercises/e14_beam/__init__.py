"""Exercise 14: from greedy search to beam search."""
