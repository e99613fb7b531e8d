"""Exercise 10: draw a heat-map of attention, and read it."""
