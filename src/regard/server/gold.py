"""Gold links of sentences that the phrasebook knows."""

from threading import Lock

from regard.alignment import Links
from regard.data import phrasebook
from regard.lab.parallel import visible_links
from regard.runtime.traced import TracedText
from regard.server.schema.translating import Link
from regard.server.served_models import Loaded

SENTENCES = 300
"""Sentences of the test split, besides the showcase."""


def gold_links(loaded: Loaded, text: TracedText) -> list[Link] | None:
    """(source word, target word) of the first translation, where it is the reference of a known sentence.

    `learn(loaded.pair)` comes first.
    """
    if loaded.pair is None or not text.found:
        return None
    bundle = loaded.translator.bundle
    if "characters" in (bundle.source.config.unit, bundle.target.config.unit):
        return None  # gold links count words
    known = _KNOWN[loaded.pair].get(text.source.encoding.text)
    translation = text.found[0].translation
    if known is None or translation.text != bundle.target.written(known[0]):
        return None
    links = visible_links(known[1], len(translation.source_words), len(translation.target_words))
    return sorted(links.possible)


_KNOWN: dict[str, dict[str, tuple[str, Links]]] = {}
_LOCK = Lock()


def learn(pair: str) -> None:
    """Generate the known sentences of a pair, which takes a second: call it outside the event loop."""
    with _LOCK:
        if pair not in _KNOWN:
            found = [*phrasebook.showcase(pair), *phrasebook.pairs(pair, "test", SENTENCES)]
            _KNOWN[pair] = {one.source: (one.target, one.links) for one in found if one.links is not None}


def learned(pair: str) -> bool:
    """Whether `gold_links` answers at once."""
    return pair in _KNOWN
