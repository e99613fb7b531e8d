"""Tests of regard.text."""
