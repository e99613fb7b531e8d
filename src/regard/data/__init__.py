"""Pairs of sequences: where they come from, and how they become batches."""
