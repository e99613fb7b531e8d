"""Stored corpora through the cache and several processes: the same tokenizers and ids as in memory, to the bit."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bundle.conftest import small_files
from regard.data import dataset, pipeline, splits
from regard.data.batching import EpochBatcher
from regard.data.dataset import EncodedPairs, PieceLimits
from regard.data.pipeline import encode_corpus, open_training, train_tokenizers
from regard.data.splits import Corpus, StoredSplit, load_split, open_split
from regard.data.tables import ParallelData, RecordData, TextConfig, TsvData
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.words import word_spans

CHUNK, LINES, BLANK = 300, 700, 7
TEXTS = {
    "words": TextConfig.model_validate({"kind": "word", "vocabulary": 300}),
    "bpe": TextConfig.model_validate({"kind": "bpe", "vocabulary": 120, "normalise": {"lowercase": True}}),
    "joint": TextConfig.model_validate({"kind": "bpe", "vocabulary": 150, "joint": True}),
    "unigram": TextConfig.model_validate({"kind": "unigram", "vocabulary": 120}),
    "characters": TextConfig.model_validate({"kind": "character"}),
    "dropout": TextConfig.model_validate({"kind": "bpe", "vocabulary": 120, "dropout": 0.2}),
}

NO_LIMITS = PieceLimits()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(dataset, "CHUNK", CHUNK)
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than two chunks, with blank and long lines in it."""
    random = np.random.RandomState(0)
    path = tmp_path_factory.mktemp("corpus") / "train.tsv"
    with path.open("w", encoding="utf-8") as file:
        for number in range(LINES):
            words = random.randint(0, 400, random.randint(1, 9))
            source = " ".join(f"w{word}" for word in words)
            file.write("\n" if number % 100 == 7 else f"{source}\tl'{source[::-1]} É{words[0]}.\n")
    return path


def table(path: Path, **keys: object) -> TsvData:
    return TsvData.model_validate({"kind": "tsv", "train": path, "dev": path, "test": path, **keys})


def same(one: EncodedPairs, other: EncodedPairs) -> bool:
    pairs = [
        (one.source.ids, other.source.ids), (one.source.offsets, other.source.offsets),
        (one.target.ids, other.target.ids), (one.target.offsets, other.target.offsets), (one.numbers, other.numbers),
    ]  # fmt: skip
    counts = [(found.blank, found.dropped, found.truncated) for found in (one, other)]
    return counts[0] == counts[1] and all(np.array_equal(left, right) for left, right in pairs)


@pytest.mark.parametrize(("name", "processes"), [*((name, 0) for name in TEXTS), ("joint", 2), ("dropout", 2)])
def test_stored_pairs_become_the_ids_of_pairs_in_memory(
    name: str, processes: int, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_SMALL", 10)
    monkeypatch.setattr(pipeline, "worker_count", lambda: processes)
    text, config = TEXTS[name], table(corpus)
    stored, loaded = open_training(config), load_split(config, "train")
    assert isinstance(stored, StoredSplit)
    (source, target), (source_again, target_again) = (train_tokenizers(one, text) for one in (stored, loaded))
    assert (source.fingerprint, target.fingerprint) == (source_again.fingerprint, target_again.fingerprint)
    assert (source is target) == text.joint
    seed = "3 1" if name == "dropout" else None
    limits = PieceLimits(source=12)
    (mapped, notes), (held, held_notes) = (encode_corpus(one, source, target, limits, seed) for one in (stored, loaded))
    assert same(mapped, held)
    assert notes == held_notes == ("train.tsv: 7 lines left out, a side is blank (first: line 8)",)
    again, _ = encode_corpus(stored, source, target, limits, seed)
    assert same(mapped, again)
    assert isinstance(mapped.source.ids, np.memmap) == (seed is None)


def test_batches_from_the_cache_are_those_from_memory(corpus: Path) -> None:
    config = table(corpus)
    source, target = train_tokenizers(open_training(config), TEXTS["bpe"])
    stored, loaded = (
        EpochBatcher(encode_corpus(one, source, target, PieceLimits())[0], tokens=400, seed=5)
        for one in (open_training(config), load_split(config, "train"))
    )
    for epoch in (0, 1):
        for items, same_items in zip(stored.plan(epoch), loaded.plan(epoch), strict=True):
            one, other = stored.batch(items), loaded.batch(same_items)
            for name in ("source", "source_lengths", "target", "target_lengths", "indices"):
                assert torch.equal(getattr(one, name), getattr(other, name))


def ready(config: TsvData, text: TextConfig = TEXTS["words"], limits: PieceLimits = NO_LIMITS) -> list[str]:
    """The steps that preparing a corpus ran."""
    done: list[str] = []
    stored = open_training(config)
    source, target = train_tokenizers(stored, text, lambda what, pairs: done.append(what))
    encode_corpus(stored, source, target, limits, watch=lambda what, pairs: done.append(what))
    return sorted(set(done))


def test_the_cache_key_is_the_content_not_the_path(corpus: Path, tmp_path: Path) -> None:
    everything = ["building the vocabulary", "counting words", "encoding"]
    assert ready(table(corpus)) == everything
    assert ready(table(corpus)) == []
    moved = tmp_path / "elsewhere.tsv"
    moved.write_bytes(corpus.read_bytes())
    assert ready(table(moved)) == []
    assert ready(table(moved), limits=PieceLimits(target=9)) == ["encoding"]
    assert ready(table(moved), TEXTS["characters"]) == everything
    assert ready(table(moved, columns=(2, 1))) == everything
    assert ready(table(moved, limit=100)) == everything
    assert ready(table(moved, longest_words=4)) == everything
    changed = moved.read_bytes().replace(b"w0", b"w1", 1)
    moved.write_bytes(changed)
    assert ready(table(moved)) == everything


def test_a_damaged_cache_is_rebuilt(corpus: Path, home: Path) -> None:
    stored = open_training(table(corpus))
    source, target = train_tokenizers(stored, TEXTS["words"])
    before, _ = encode_corpus(stored, source, target, PieceLimits())
    (file,) = home.glob("pairs/*/source.ids")
    with file.open("r+b") as cut:
        cut.truncate(100)
    after, notes = encode_corpus(stored, source, target, PieceLimits())
    assert "was damaged or incomplete: it was rebuilt" in notes[-1]
    assert same(after, encode_corpus(load_split(table(corpus), "train"), source, target, PieceLimits())[0])
    assert len(before) == len(after)


def test_a_disk_that_fills_while_caching(corpus: Path, home: Path) -> None:
    stored = open_training(table(corpus))
    source, target = train_tokenizers(stored, TEXTS["words"])
    with small_files(2_000), pytest.raises(InputError, match=r"cannot keep prepared data in .* no partial files"):
        encode_corpus(stored, source, target, PieceLimits())
    assert not [path for path in (home / "pairs").iterdir() if path.suffix != ".lock"]
    assert len(encode_corpus(stored, source, target, PieceLimits())[0]) == LINES - BLANK


def test_nothing_left_is_refused_and_not_kept(corpus: Path, home: Path) -> None:
    stored = open_training(table(corpus))
    source, target = train_tokenizers(stored, TEXTS["bpe"])
    with pytest.raises(InputError, match=r"no pair is left to use: 0 with a blank side, 693 longer .* raise the limit"):
        encode_corpus(stored, source, target, PieceLimits(target=1))
    assert not [path for path in (home / "pairs").iterdir() if path.suffix != ".lock"]


def test_a_mismatched_pair_of_files_is_found_while_preparing(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("a\nb\nc\n")
    (tmp_path / "train.fr").write_text("a\nb\n")
    files = {"train": tmp_path / "train", "dev": tmp_path / "train", "test": tmp_path / "train"}
    config = ParallelData.model_validate({"kind": "parallel", "source": "en", "target": "fr", **files})
    with pytest.raises(InputError, match=r"unequal line counts: .*train.en has 3, .*train.fr has 2"):
        train_tokenizers(open_training(config), TEXTS["words"])


def test_limit_and_longest_words_filter_training_pairs(corpus: Path) -> None:
    config = table(corpus, limit=50, longest_words=5)
    notes: list[str] = []
    pairs = list(open_split(config, "train").pairs(notes))
    assert len(pairs) == 50
    assert all(len(pair.source.split()) <= 5 for pair in pairs)
    assert any("pairs left out, a side has more than 5 words" in note for note in notes)
    assert notes[-1] == "train.tsv: only the first 50 training pairs are used (data.limit)"
    assert len(load_split(config, "dev").pairs) == LINES - BLANK


@given(st.text(st.sampled_from("ab l'1.,-! é漢か\u200b🙂हि\t"), max_size=40), st.integers(1, 20))
def test_long_texts_are_detected_by_their_words(text: str, longest: int) -> None:
    assert splits._fits(text, longest) == (len(word_spans(text)) <= longest)


def test_records_are_a_corpus_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"en": "a b", "fr": "c"}\n{"en": "a", "fr": "c d"}\n' * 30)
    config = RecordData.model_validate(
        {"kind": "jsonl", "train": "t.jsonl", "dev": "t.jsonl", "test": "t.jsonl", "source": "en", "target": "fr",
         "base": tmp_path}
    )  # fmt: skip
    stored = open_training(config)
    source, target = train_tokenizers(stored, TEXTS["words"])
    assert len(source) == len(target) == 6
    assert len(encode_corpus(stored, source, target, PieceLimits())[0]) == 60
    assert isinstance(load_split(config, "dev"), Corpus)
    assert isinstance(source, Tokenizer)
