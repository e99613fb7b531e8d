"""Word alignment: links from attention, symmetrisation, Pharaoh and NAACL formats, Alignment Error Rate; NumPy only."""

from regard.alignment.extract import attention_entropy, combine_heads, word_links
from regard.alignment.formats import (
    check_links,
    format_naacl,
    format_pharaoh,
    parse_naacl,
    parse_pharaoh,
    seem_one_based,
)
from regard.alignment.links import Link, LinkLists, Links
from regard.alignment.rule import LinkRule, WordAttention, format_heads, parse_heads
from regard.alignment.score import AlignmentScore, score_alignment
from regard.alignment.symmetrise import product, symmetrise
from regard.alignment.tune import Tuned, agree, shifted_attention, tune, tune_pair

__all__ = [
    "AlignmentScore",
    "Link",
    "LinkLists",
    "LinkRule",
    "Links",
    "Tuned",
    "WordAttention",
    "agree",
    "attention_entropy",
    "check_links",
    "combine_heads",
    "format_heads",
    "format_naacl",
    "format_pharaoh",
    "parse_heads",
    "parse_naacl",
    "parse_pharaoh",
    "product",
    "score_alignment",
    "seem_one_based",
    "shifted_attention",
    "symmetrise",
    "tune",
    "tune_pair",
    "word_links",
]
