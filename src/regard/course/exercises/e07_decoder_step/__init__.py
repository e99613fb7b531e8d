"""Exercise 7: one step of Bahdanau's decoder."""
