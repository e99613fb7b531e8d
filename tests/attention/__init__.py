"""Tests of every mechanism: references, modules, windows, building."""
