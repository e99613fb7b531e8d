"""`regard bench`: our models against the textbook loop, its compiled form and JoeyNMT, on the same work."""
