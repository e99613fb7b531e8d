"""Exercise 13: local attention, monotonic and predictive."""
