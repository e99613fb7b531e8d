"""From a corpus to tokenizers and ids: made-up pairs in memory, stored ones through the cache and by several processes.

Both ways give the same tokenizers and the same ids, to the bit.
"""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path

import tokenizers

from regard.data.cache import kept
from regard.data.config import TextConfig
from regard.data.crew import Crew, crew_size
from regard.data.dataset import CHUNK, EncodedPairs, Limits, cut, encode_chunks, encode_pairs
from regard.data.pair import Pair
from regard.data.splits import Corpus, StoredSplit, load_split, open_split
from regard.data.stored import map_pairs, write_pairs
from regard.data.tables import DataConfig, PhrasebookData, SyntheticData
from regard.reading_files import read_json
from regard.text.config import TokenizerConfig
from regard.text.tokenizer import Tokenizer

Watch = Callable[[str, int], None]
"""Called with what is being done and how many pairs are done."""
_FORMAT = 1
"""Goes up when the files of the cache, or what decides them, change."""
_SMALL = 4 * CHUNK
"""Pairs up to which a corpus is not worth a second process."""


def _unwatched(what: str, done: int) -> None:
    pass


def open_training(config: DataConfig) -> Corpus | StoredSplit:
    """The training pairs: made-up ones in memory, stored ones as a stream."""
    if isinstance(config, PhrasebookData | SyntheticData):
        return load_split(config, "train")
    return open_split(config, "train")


def train_tokenizers(
    corpus: Corpus | StoredSplit, text: TextConfig, watch: Watch = _unwatched
) -> tuple[Tokenizer, Tokenizer]:
    """One tokenizer for each side, or one for both where the recipe says joint."""
    if isinstance(corpus, Corpus):
        return _train(corpus.pairs, text, _unwatched)
    said = {
        "corpus": corpus.key,
        "text": [side.model_dump(mode="json") for side in (text.source, text.target)],
        "joint": text.joint,
    }

    def build(folder: Path) -> None:
        found = _train(corpus.pairs(), text, watch)
        for name, tokenizer in zip(("source", "target"), found, strict=True):
            (folder / f"{name}.json").write_bytes(tokenizer.data)

    folder = kept("tokenizers", _key(said), build)
    source, target = (Tokenizer.load(folder / f"{name}.json") for name in ("source", "target"))
    return (source, source) if text.joint else (source, target)


def encode_corpus(
    corpus: Corpus | StoredSplit,
    source: Tokenizer,
    target: Tokenizer,
    limits: Limits,
    seed: str | None = None,
    watch: Watch = _unwatched,
) -> tuple[EncodedPairs, tuple[str, ...]]:
    """The ids of the training pairs, and what a person should hear; a seed switches BPE dropout on.

    What dropout makes of a text is used once, so it is not kept; the tokenizers remember how words may be cut, so this
    process does it itself.
    """
    if isinstance(corpus, Corpus):
        return encode_pairs(corpus.pairs, source, target, limits, seed), corpus.notes
    notes: list[str] = []
    if seed is not None:
        return encode_pairs(corpus.pairs(notes), source, target, limits, seed), tuple(notes)
    said = {
        "corpus": corpus.key,
        "tokenizers": [source.fingerprint, target.fingerprint],
        "limits": [limits.source, limits.target, limits.overlong],
    }

    def build(folder: Path) -> None:
        heard: list[str] = []
        with _crew(corpus.pairs(heard)) as (pairs, crew):
            chunks = encode_chunks(pairs, source, target, limits, None, crew)
            write_pairs(folder, chunks, lambda done: watch("encoding", done))
        (folder / "notes.json").write_text(json.dumps(heard), encoding="utf-8")

    folder = kept("pairs", _key(said), build, notes)
    heard = read_json(folder / "notes.json")
    return map_pairs(folder), (*heard, *notes)


def _key(said: Mapping[str, object]) -> str:
    """Of what was said, and of every version that may cut the same text in another way."""
    versions = [_FORMAT, version("regard"), tokenizers.__version__, unicodedata.unidata_version]
    return hashlib.sha256(json.dumps({"versions": versions, **said}, sort_keys=True).encode()).hexdigest()


def _train(pairs: Iterable[Pair], text: TextConfig, watch: Watch) -> tuple[Tokenizer, Tokenizer]:
    configs = (text.source, text.target)
    with _crew(pairs) as (stream, crew):
        done = 0
        requests = (
            (([pair.source for pair in chunk], [pair.target for pair in chunk]), configs) for chunk in cut(stream)
        )
        for count in crew.map("count", requests):
            done += count
            watch("counting words", done)
        sides = _added(crew.each("counted"))
        watch("building the vocabulary", done)
        if text.joint:
            sides[0].update(sides.pop(1))
        trained = [Tokenizer.from_data(data) for data in crew.map("train", _orders(sides, configs))]
    return (trained[0], trained[-1])


def _orders(
    sides: dict[int, Counter[str]], configs: Sequence[TokenizerConfig]
) -> Iterator[tuple[Counter[str], TokenizerConfig]]:
    for side in sorted(sides):
        yield sides[side], configs[side]


def _added(parts: Iterable[dict[int, Counter[str]]]) -> dict[int, Counter[str]]:
    whole: dict[int, Counter[str]] = {0: Counter(), 1: Counter()}
    for part in parts:
        for side, counts in part.items():
            whole[side].update(counts)
    return whole


@contextmanager
def _crew(pairs: Iterable[Pair]) -> Iterator[tuple[Iterator[Pair], Crew]]:
    """The same pairs, and as many processes as their number is worth."""
    stream = iter(pairs)
    begin = list(islice(stream, _SMALL))
    with Crew(crew_size() if len(begin) == _SMALL else 0) as crew:
        yield chain(begin, stream), crew
