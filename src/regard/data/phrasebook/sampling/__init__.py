"""Random trees of a wanted length: noun phrases, verb phrases, sentences."""

from regard.data.phrasebook.sampling.draw import Draw
from regard.data.phrasebook.sampling.sentences import sentence
from regard.data.phrasebook.sampling.stock import Stock

__all__ = ["Draw", "Stock", "sentence"]
