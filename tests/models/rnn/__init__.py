"""Cells, encoder, bridge and readout on their own, and whole models against NumPy."""
