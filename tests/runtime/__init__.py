"""Tests of the Python API over bundles."""
