"""Ours beside the textbook loop, its compiled form and JoeyNMT, on the same work: what `regard bench` measures."""
