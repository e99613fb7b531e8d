"""Exercise 1: a softmax that survives large scores."""
