"""Accelerated implementations of the core's replaceable functions; importing this package registers all of them."""

from regard.fast.additive import fused, step_scores
from regard.fast.cpu import packed_model, top_k
from regard.fast.cross_entropy import fused_loss
from regard.fast.graphs import replay, transformer_training
from regard.fast.recurrent import decode_entries, decoding_cells, encode_entries
from regard.fast.search import graph_search, search_entries, shared_memory

__all__ = [
    "decode_entries",
    "decoding_cells",
    "encode_entries",
    "fused",
    "fused_loss",
    "graph_search",
    "packed_model",
    "replay",
    "search_entries",
    "shared_memory",
    "step_scores",
    "top_k",
    "transformer_training",
]
