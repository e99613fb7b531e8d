"""Exercise 20: quality against length, with and without attention."""
