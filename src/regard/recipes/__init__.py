"""The published recipes, one TOML file for each result in docs/results.md."""
