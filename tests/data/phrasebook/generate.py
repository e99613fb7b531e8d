"""Large samples of the phrasebook, made in a separate process where no type checker slows the grammar down."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from regard.data import phrasebook
from regard.data.pair import Pair
from regard.data.phrasebook.corpus import language, translate
from regard.data.phrasebook.sampling.draw import Draw
from regard.data.phrasebook.sampling.sentences import sentence
from regard.text.words import join_words, split_words

NOUNS = {"man", "girl", "cat", "book", "table", "door", "light", "mango", "bread", "milk", "house", "city", "story"}
RANGES = ((3, 3), (7, 7), (40, 60), (100, 120), (120, 120))
VERBS = {"see", "love", "wait for", "give", "sleep", "sit", "go", "arrive", "turn off", "buy", "visit", "open"}


def structures(pair: str, count: int) -> Iterator[Pair]:
    """Sentences over a tiny lexicon, where whole structures collide and not only words."""
    full = language(pair)
    stock = replace(
        full.stock,
        nouns={kind: tuple(noun for noun in nouns if noun in NOUNS) for kind, nouns in full.stock.nouns.items()},
        before={noun: adjectives[:1] for noun, adjectives in full.stock.before.items()},
        after={noun: adjectives[:1] for noun, adjectives in full.stock.after.items()},
        verbs={
            key: tuple(verb for verb in verbs if verb.lemma in VERBS) or verbs[:1]
            for key, verbs in full.stock.verbs.items()
        },
        takers={
            kind: tuple(verb for verb in verbs if verb.lemma in VERBS) for kind, verbs in full.stock.takers.items()
        },
    )
    draw = Draw("structures", stock)
    for _ in range(count):
        tree = sentence(draw, draw.between(3, 9))
        if full.render(tree) is not None:
            yield translate(full, tree)


def plain(pair: Pair) -> dict[str, Any]:
    assert pair.links is not None
    source, target = (split_words(text) for text in (pair.source, pair.target))
    assert join_words(source) == pair.source
    assert join_words(target) == pair.target
    sure, possible = sorted(pair.links.sure), sorted(pair.links.possible)
    return {"source": source, "target": target, "sure": sure, "possible": possible}


def samples_of(pair: str) -> dict[str, Any]:
    made = phrasebook.pairs
    return {
        "default": [plain(item) for item in made(pair, "train", 3_000)],
        "short": [plain(item) for seed in range(6) for item in made(pair, "train", 1_000, seed, longest=5)],
        "structures": [plain(item) for item in structures(pair, 8_000)],
        "splits": {
            split: [item.source for item in made(pair, split, 150, longest=6)] for split in ("train", "dev", "test")
        },
        "ranges": [
            (shortest, longest, [plain(item) for item in made(pair, "train", 12, 0, shortest, longest)])
            for shortest, longest in RANGES
        ],
    }


def all_samples() -> dict[str, Any]:
    result: dict[str, Any] = {pair: samples_of(pair) for pair in phrasebook.PAIRS}
    try:
        phrasebook.pairs("en-fr", "test", 10_000, longest=3)
    except ValueError as error:
        result["exhausted"] = str(error)
    return result


if __name__ == "__main__":
    json.dump(all_samples(), sys.stdout)
