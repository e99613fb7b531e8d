"""Exercise 4: from scores to context vectors."""
