"""Tests of the measuring code in benchmarks/."""
