"""The laws of attention as functions, for our tests and for other people's modules."""

from regard.testing.attention_check import check_attention
from regard.testing.law_report import LawFinding, LawReport

__all__ = ["LawFinding", "LawReport", "check_attention"]
