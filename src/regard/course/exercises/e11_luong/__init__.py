"""Exercise 11: Luong's three scores and his decoder step."""
