"""Random trees of a requested length: noun phrases, verb phrases, sentences."""
