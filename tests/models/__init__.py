"""The laws of models: every preset, and every choice together with every other."""
