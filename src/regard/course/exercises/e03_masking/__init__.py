"""Exercise 3: a softmax that gives padding nothing."""
