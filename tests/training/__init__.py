"""Training, tested with models small enough to train in a second."""
