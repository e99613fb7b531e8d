"""The laws of attention as functions, for our tests and for other people's modules."""

from regard.testing.attention_check import LawFinding, LawReport, check_attention

__all__ = ["LawFinding", "LawReport", "check_attention"]
