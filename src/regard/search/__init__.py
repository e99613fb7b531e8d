"""Greedy, beam, sampled and forced search over any Stepper; knows no model class."""

from regard.search.beam import Node, SearchTree
from regard.search.decode import beam_search, decode, forced_search, greedy_search, sample_search
from regard.search.ensemble import Ensemble
from regard.search.hypothesis import Hypothesis
from regard.search.sample import Sampler
from regard.search.scoring import PrefixTooLong
from regard.search.search_config import Longest, SearchConfig
from regard.search.search_options import LengthPenalty, Options
from regard.search.stepper import State, Step, Stepper

__all__ = [
    "Ensemble",
    "Hypothesis",
    "LengthPenalty",
    "Longest",
    "Node",
    "Options",
    "PrefixTooLong",
    "Sampler",
    "SearchConfig",
    "SearchTree",
    "State",
    "Step",
    "Stepper",
    "beam_search",
    "decode",
    "forced_search",
    "greedy_search",
    "sample_search",
]
