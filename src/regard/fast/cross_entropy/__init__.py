"""Output layer and cross-entropy in one pass over the logits."""
