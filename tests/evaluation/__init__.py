"""Tests of scores, error rates and reports."""
