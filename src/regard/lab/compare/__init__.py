"""The lab: variants of one recipe trained under one budget with several seeds, measured and laid side by side."""
