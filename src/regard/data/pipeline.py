"""From a corpus to tokenizers and ids: generated pairs in memory, stored ones through the cache and worker processes.

Both ways give the same tokenizers and the same ids, to the bit.
"""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path

import tokenizers

from regard.data.cache import cached_folder
from regard.data.dataset import (
    CHUNK,
    EncodedPairs,
    PieceLimits,
    cut,
    encode_chunks,
    encode_pairs,
    map_pairs,
    write_pairs,
)
from regard.data.pair import Pair
from regard.data.splits import Corpus, StoredSplit, load_split, open_split
from regard.data.tables import DataConfig, PhrasebookData, SyntheticData, TextConfig
from regard.data.worker_pool import WorkerPool, worker_count
from regard.reading_files import read_json
from regard.text.tokenizer import Tokenizer
from regard.text.worker import count_words, encode_texts

Watch = Callable[[str, int], None]
"""Called with the current step and the number of pairs that are done."""
_FORMAT = 1
"""Part of the cache key; increase it when the format or the content of the cached files changes."""
_SMALL = 4 * CHUNK
"""Pairs up to which worker processes do not pay off."""


def no_progress(what: str, done: int) -> None:
    pass


def open_training(config: DataConfig) -> Corpus | StoredSplit:
    """The training pairs: generated ones in memory, stored ones as a stream."""
    if isinstance(config, PhrasebookData | SyntheticData):
        return load_split(config, "train")
    return open_split(config, "train")


def train_tokenizers(
    corpus: Corpus | StoredSplit, text: TextConfig, watch: Watch = no_progress
) -> tuple[Tokenizer, Tokenizer]:
    """One tokenizer for each side, or one for both if the recipe sets `joint`."""
    if isinstance(corpus, Corpus):
        return _train(corpus.pairs, text, no_progress)

    def build(folder: Path) -> None:
        found = _train(corpus.pairs(), text, watch)
        for name, tokenizer in zip(("source", "target"), found, strict=True):
            tokenizer.save(folder / f"{name}.json")

    configs = [side.model_dump(mode="json") for side in (text.source, text.target)]
    folder = cached_folder("tokenizers", _key(corpus=corpus.key, text=configs, joint=text.joint), build)
    source, target = (Tokenizer.load(folder / f"{name}.json") for name in ("source", "target"))
    return (source, source) if text.joint else (source, target)


def encode_corpus(
    corpus: Corpus | StoredSplit,
    source: Tokenizer,
    target: Tokenizer,
    limits: PieceLimits,
    seed: str | None = None,
    watch: Watch = no_progress,
) -> tuple[EncodedPairs, tuple[str, ...]]:
    """The ids of the training pairs, and notes for the user; a seed enables BPE dropout.

    With dropout the ids are used once, so they are not cached, and this process encodes them, because its tokenizers
    remember the segmentations of earlier epochs.
    """
    if isinstance(corpus, Corpus):
        return encode_pairs(corpus.pairs, source, target, limits, seed), corpus.notes
    notes: list[str] = []
    if seed is not None:
        return encode_pairs(corpus.pairs(notes), source, target, limits, seed), tuple(notes)

    def build(folder: Path) -> None:
        watch("encoding", 0)
        corpus_notes: list[str] = []
        pairs, processes = _count_workers(corpus.pairs(corpus_notes))
        with WorkerPool(partial(encode_texts, (source, target)), processes) as pool:
            write_pairs(folder, encode_chunks(pairs, pool, limits), lambda done: watch("encoding", done))
        (folder / "notes.json").write_text(json.dumps(corpus_notes), encoding="utf-8")

    key = _key(
        corpus=corpus.key,
        tokenizers=[source.fingerprint, target.fingerprint],
        limits=[limits.source, limits.target, limits.overlong],
    )
    folder = cached_folder("pairs", key, build, notes)
    return map_pairs(folder), (*read_json(folder / "notes.json"), *notes)


def _key(**parts: object) -> str:
    """The cache key: a hash of the parts and of every version that may split the same text differently."""
    versions = [_FORMAT, version("regard"), tokenizers.__version__, unicodedata.unidata_version]
    return hashlib.sha256(json.dumps({"versions": versions, **parts}, sort_keys=True).encode()).hexdigest()


def _train(pairs: Iterable[Pair], text: TextConfig, watch: Watch) -> tuple[Tokenizer, Tokenizer]:
    configs = (text.source, text.target)
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    done = 0
    watch("counting words", done)
    pairs, processes = _count_workers(pairs)
    with WorkerPool(partial(count_words, configs), processes) as counters:
        for size, found in counters.map((texts,) for texts in cut(pairs)):
            for whole, part in zip(counts, found, strict=True):
                whole.update(part)
            done += size
            watch("counting words", done)
    watch("building the vocabulary", done)
    if text.joint:
        counts[0].update(counts[1])
        tokenizer = Tokenizer.from_counts(counts[0], text.source)
        return tokenizer, tokenizer
    with WorkerPool(Tokenizer.from_counts, min(processes, 2)) as trainers:
        source, target = trainers.map(zip(counts, configs, strict=True))
    return source, target


def _count_workers(pairs: Iterable[Pair]) -> tuple[Iterator[Pair], int]:
    """The same pairs, and the number of worker processes that they justify."""
    stream = iter(pairs)
    begin = list(islice(stream, _SMALL))
    return chain(begin, stream), worker_count() if len(begin) == _SMALL else 0
