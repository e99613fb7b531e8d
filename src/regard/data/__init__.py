"""Pairs of sequences: where they come from, and how they become batches."""

from regard.data.batch import Batch
from regard.data.batching import Batcher
from regard.data.dataset import EncodedPair, EncodedPairs, Sequences, encode_pairs
from regard.data.pair import Pair

__all__ = ["Batch", "Batcher", "EncodedPair", "EncodedPairs", "Pair", "Sequences", "encode_pairs"]
