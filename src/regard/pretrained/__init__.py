"""Models that ship with the package: a folder for each, an int8 bundle with its card.toml."""
