"""Tests of word links, their files and their scores."""
