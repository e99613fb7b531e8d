"""Word alignment: links from attention, symmetrisation, Pharaoh and NAACL formats, Alignment Error Rate; NumPy only."""

from regard.alignment.entropy import attention_entropy
from regard.alignment.extract import combine_heads, word_links, word_matrix
from regard.alignment.formats import (
    check_links,
    format_pharaoh,
    parse_pharaoh,
    read_naacl,
    read_pharaoh,
    write_naacl,
    write_pharaoh,
)
from regard.alignment.links import Link, Links
from regard.alignment.score import AlignmentScore, score_alignment
from regard.alignment.symmetrise import grow_diag, grow_diag_final_and, intersection, symmetrise, union

__all__ = [
    "AlignmentScore",
    "Link",
    "Links",
    "attention_entropy",
    "check_links",
    "combine_heads",
    "format_pharaoh",
    "grow_diag",
    "grow_diag_final_and",
    "intersection",
    "parse_pharaoh",
    "read_naacl",
    "read_pharaoh",
    "score_alignment",
    "symmetrise",
    "union",
    "word_links",
    "word_matrix",
    "write_naacl",
    "write_pharaoh",
]
