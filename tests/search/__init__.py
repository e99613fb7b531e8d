"""Tests of every search, against models small enough to enumerate."""
