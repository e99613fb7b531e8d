"""Pairs of sequences: where they come from, and how they become batches."""

from regard.data.batch import Batch
from regard.data.batching import Batcher
from regard.data.config import Corpus, DataConfig, TextConfig, load_split
from regard.data.corpora import read_parallel, read_tsv
from regard.data.dataset import EncodedPairs, Sequences, encode_pairs
from regard.data.pair import Pair
from regard.data.synthetic import copy, reverse, sort

__all__ = [
    "Batch",
    "Batcher",
    "Corpus",
    "DataConfig",
    "EncodedPairs",
    "Pair",
    "Sequences",
    "TextConfig",
    "copy",
    "encode_pairs",
    "load_split",
    "read_parallel",
    "read_tsv",
    "reverse",
    "sort",
]
