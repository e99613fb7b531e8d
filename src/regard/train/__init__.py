"""Training: recipes, the loop, checkpoints, resume and the journal."""
