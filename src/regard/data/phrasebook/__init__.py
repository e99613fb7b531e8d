"""A bilingual phrasebook: English, French and Hindi sentences from one grammar, with gold word alignments."""

from regard.data.phrasebook.corpus import PAIRS, pairs, showcase, split_of
from regard.data.phrasebook.showcase import as_written

__all__ = ["PAIRS", "as_written", "pairs", "showcase", "split_of"]
