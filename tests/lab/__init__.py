"""Tests of what combines the parts."""
