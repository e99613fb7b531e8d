"""Exercise 17: the learner's attention inside a trained translator."""
