"""A trained model on disk: the same as before, whole or not at all, and refused with a reason when it is neither."""
