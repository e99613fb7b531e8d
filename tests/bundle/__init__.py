"""A trained model on disk: load equals save, writes are atomic, and invalid folders raise with the reason."""
