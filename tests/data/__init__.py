"""Tests of regard.data."""
